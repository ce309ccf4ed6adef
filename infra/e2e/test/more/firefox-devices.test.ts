/** Devices of a participant in Firefox, through relays and from peer to peer: what they share, lose and keep on, and a computer that sleeps. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { unplug } from '../../support/browsers.ts';
import { DISPLAY_SIZE, startDisplay } from '../../support/display.ts';
import { opened } from '../../support/opened.ts';
import { connectsBy } from '../../support/paths.ts';
import { receivesOthers } from '../../support/presence.ts';
import { joinAsPuppet, launchFirefox, sleep, type Puppet } from '../../support/puppets.ts';
import { record, recordedBy } from '../../support/recorded.ts';
import { withSite } from '../../support/site.ts';
import { startSoundCard } from '../../support/sound-card.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';
import { listen } from '../../support/voices.ts';

const WITHIN_MS = 15_000;
const SHARED_WITHIN_MS = 30_000;
const FRAMES = 5;
const DESKTOP = { width: 900, height: 640 };
/** For nearly as long as a participant may be away. */
const ASLEEP_MS = 25_000;

const CALLS = [
  { call: 'a room through relays', way: 'sfu', env: { PARLEY_LIMIT_MESH_PARTICIPANTS: '1' } },
  { call: 'a call from peer to peer', way: 'mesh', env: {} },
] as const;

for (const { call, way, env } of CALLS)
  describe(`Firefox in ${call}`, { timeout: 240_000 }, () => {
    const site = withSite(env);
    const firefox = opened(async (keep) =>
      keep(await launchFirefox(keep(await startSoundCard()), keep(await startDisplay()))),
    );
    let cy: Visitor;
    let fox: Puppet;

    before(async () => {
      const room = newRoom();
      cy = await Visitor.join(site.browser, { name: 'Cy', web: site.web, room });
      fox = await joinAsPuppet(firefox(), `${site.web}/r/${room}`, 'Fox', [record]);
      await fox.page.setViewport(DESKTOP);
      for (const one of [cy, fox]) await connectsBy(one, way, 1);
      for (const { page } of [cy, fox]) await listen(page);
      for (const one of [cy, fox]) await receivesOthers(one, 1);
    });

    const press = (testId: string) => fox.page.locator(`[data-testid=${testId}]`).click();

    it('[MEDIA-12] continues with other devices when camera and microphone are unplugged', async (t) => {
      await unplug(fox.page);
      t.diagnostic(`seen and heard after ${await receivesOthers(cy, 1)} ms`);
    });

    it('shares its screen, and stops', async () => {
      const shown = cy.page.getByTestId('screen');
      const picture = () =>
        shown.locator('video').evaluate((element) => {
          const video = element as HTMLVideoElement;
          const { videoWidth: width, videoHeight: height } = video;
          return { width, height, frames: video.getVideoPlaybackQuality().totalVideoFrames };
        });
      await press('control-screen');
      await fox.page.waitForSelector('[data-testid=own-screen]', { timeout: WITHIN_MS });
      await shown.waitFor({ timeout: SHARED_WITHIN_MS });
      const begun = await picture();
      let now = begun;
      await until(
        async () => {
          now = await picture();
          return now.width > 0 && now.frames >= begun.frames + FRAMES;
        },
        { withinMs: SHARED_WITHIN_MS, what: () => `pictures of the screen: ${JSON.stringify(now)}` },
      );
      const ratio = DISPLAY_SIZE.width / DISPLAY_SIZE.height;
      assert.ok(Math.abs(now.width / now.height - ratio) < 0.02, `${now.width}x${now.height}`);
      await receivesOthers(cy, 1);
      await press('stop-sharing');
      await shown.waitFor({ state: 'detached', timeout: WITHIN_MS });
      await receivesOthers(cy, 1);
    });

    it('[MEDIA-12] [RES-1] is in its call again when the computer wakes up, as the same participant, with media and chat both ways', async (t) => {
      const participant = () =>
        fox.page.$eval('[data-testid=call]', (element) => (element as HTMLElement).dataset['participant']);
      const before = await participant();
      const wokeAt = await sleep(firefox(), ASLEEP_MS);
      await fox.page.waitForSelector('[data-testid=call][data-status=connected]');
      await Promise.all([receivesOthers(fox, 1), receivesOthers(cy, 1)]);
      t.diagnostic(`media both ways ${Date.now() - wokeAt} ms after it woke up`);
      // Its page may not know yet that its socket is lost.
      await cy.sendChat('good morning');
      await fox.receivesChat('good morning');
      await fox.sendChat('morning');
      await cy.receivesChat('morning');
      assert.equal(await participant(), before);
      assert.equal(await cy.page.getByTestId('tile').count(), 2);
    });

    it('keeps the screen on until it leaves', async () => {
      assert.equal((await recordedBy(fox.page)).heldLocks, 1);
      await press('control-leave');
      await fox.page.waitForSelector('[data-testid=ended-left]', { timeout: WITHIN_MS });
      await until(async () => (await recordedBy(fox.page)).heldLocks === 0, {
        withinMs: WITHIN_MS,
        what: () => 'the screen to be let turn off',
      });
      assert.deepEqual([cy.lines, cy.errors], [[], []]);
      await fox.page.close();
      await cy.leave();
    });
  });
