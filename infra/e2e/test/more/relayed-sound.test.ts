/** The sound of a room that goes through relays. */
import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newProfile } from '../../support/browsers.ts';
import { switchMicrophone } from '../../support/controls.ts';
import { isLoud, isSilent, playsOnly } from '../../support/loudspeaker.ts';
import { connectsBy } from '../../support/paths.ts';
import { withSite } from '../../support/site.ts';
import { cappedStall } from '../../support/stalls.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';
import { listen, playedSound } from '../../support/voices.ts';

const SIZES = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };
const WITHIN_MS = 20_000;
const USUAL_MS = 5000;
/** Two or three beeps are lost at most. Added to the silence before the move, as in `large-rooms.test.ts`. */
const SILENT_MS = 2000;

describe('sound', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '3' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));
  const join = (name: string, room: string) =>
    Visitor.join(site.browser, { name, web: site.web, room, sizes: SIZES });

  it('[MEDIA-13] through relays is one stream, with each voice once, and none is missing while the room moves', async (t) => {
    const room = newRoom();
    const [ada, ben] = [await join('Ada', room), await join('Ben', room)];
    const cem = await joinMuted('Cem', room);
    for (const one of [ada, ben, cem]) await connectsBy(one, 'mesh', 2);

    let dora: Visitor | undefined;
    const there = await longestSilence(t, 'mesh to relay', [ada, ben], async () => {
      dora = await joinMuted('Dora', room);
      for (const one of [ada, ben]) await connectsBy(one, 'sfu', 3);
      for (const one of [ada, ben]) await playsOnly(one, ['mix']);
    });
    const back = await longestSilence(t, 'relay to mesh', [ada, ben], async () => {
      for (const one of [cem, dora]) await one?.page.getByTestId('control-leave').click();
      for (const one of [ada, ben]) await connectsBy(one, 'mesh', 1);
      await playsOnly(ada, [await ben.participant()]);
      await playsOnly(ben, [await ada.participant()]);
    });
    for (const most of [there, back]) assert.ok(most <= SILENT_MS, `nothing was played for ${most} ms`);
    for (const one of [ada, ben]) assert.deepEqual(one.errors, []);
  });

  it('[MEDIA-15] has the participants with a microphone on, and no others', async () => {
    const room = newRoom();
    const [ada, ben, cem] = [await join('Ada', room), await join('Ben', room), await join('Cem', room)];
    await joinMuted('Dora', room);
    await connectsBy(ada, 'sfu', 3);
    await listen(ada.page);
    await playsOnly(ada, ['mix']);
    for (const one of [ben, cem]) await switchMicrophone(one, 'off');
    await isSilent(ada);
    for (const one of [ben, cem]) {
      await switchMicrophone(one, 'plain');
      await isLoud(ada);
      await switchMicrophone(one, 'off');
      await isSilent(ada);
    }
  });

  /** With camera and microphone off. */
  async function joinMuted(name: string, room: string): Promise<Visitor> {
    const page = await (await newProfile(site.browser, site.web, undefined, SIZES)).newPage();
    await page.goto(`${site.web}/r/${room}`);
    for (const kind of ['microphone', 'camera']) {
      // A click before the device is open switches it on.
      await page.locator(`[data-testid=prejoin-${kind}][aria-pressed=true]`).click();
      await page.locator(`[data-testid=prejoin-${kind}][aria-pressed=false]`).waitFor();
    }
    await page.getByTestId('name-input').fill(name);
    await page.getByTestId('join').click();
    await page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: WITHIN_MS });
    return new Visitor(name, page);
  }
});

/** By how much the longest silence of any loudspeaker exceeds the one before, ms; of that at most `MAX_STALL_MS` count. */
async function longestSilence(
  t: TestContext,
  what: string,
  people: readonly Visitor[],
  happens: () => Promise<void>,
): Promise<number> {
  const longest = async (): Promise<number> =>
    Math.max(
      ...(await Promise.all(people.map(({ page }) => playedSound(page)))).map(({ silentMs }) => silentMs),
    );
  for (const { page } of people) await listen(page);
  await pause(USUAL_MS);
  const usual = await longest();
  await happens();
  await pause(USUAL_MS);
  const found = await longest();
  t.diagnostic(`${what}: ${found} ms between beeps of what was played (usually ${usual})`);
  return found - cappedStall(usual);
}
