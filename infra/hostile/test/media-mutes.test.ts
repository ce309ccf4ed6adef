/** A participant that goes on sending sounds while an owner muted it, and a client that listens to them all the same: the relay passes none on. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { createRoom, keepOwnerKey } from '@parley/e2e/support/owned-room.ts';
import { newProfile, type Sizes } from '@parley/e2e/support/browsers.ts';
import { connectsBy } from '@parley/e2e/support/paths.ts';
import { participantOf, receivesOthers } from '@parley/e2e/support/presence.ts';
import { withSite } from '@parley/e2e/support/site.ts';
import { speakWithoutPause, SYLLABLE_MS } from '@parley/e2e/support/speech.ts';
import { until } from '@parley/e2e/support/until.ts';
import { Visitor } from '@parley/e2e/support/visitor.ts';
import { listen } from '@parley/e2e/support/voices.ts';
import { HostileRelay, type Recording } from '../src/media-relay.ts';

const SIZES: Sizes = { camera: { width: 160, height: 90 }, page: { width: 960, height: 540 } };
const RECORDED_MS = 4000;
const WITHIN_MS = 20_000;

describe('a mute that a client and a listener ignore', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '1' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));
  // The library reports each subscription, and each that ends.
  before(() => (['debug', 'warn'] as const).forEach((level) => mock.method(console, level, () => undefined)));
  after(() => mock.restoreAll());

  it('[MEDIA-29] [MED-76] is kept by the relay: nothing of the sound arrives, the pictures do, and the sound again once the owner lets it speak', async (t) => {
    const owned = await createRoom(site, { name: 'seminar' });
    const join = async (name: string, isOwner = false): Promise<Visitor> => {
      const profile = await newProfile(site.browser, site.web, undefined, SIZES);
      if (isOwner) await profile.addInitScript(keepOwnerKey, owned);
      await profile.addInitScript(speakWithoutPause, SYLLABLE_MS);
      const visitor = new Visitor(name, await profile.newPage());
      await visitor.enter(`${site.web}/r/${owned.room}`);
      return visitor;
    };
    const [olga, gus] = [await join('Olga', true), await join('Gus')];
    for (const one of [olga, gus]) {
      await connectsBy(one, 'sfu', 1);
      await listen(one.page);
      await receivesOthers(one, 1);
    }
    const id = await participantOf(gus);
    const client = (): Promise<HostileRelay> => HostileRelay.of(site.stack, site.dir, owned.room);
    const [sender, listener] = [await client(), await client()];
    t.after(() => [sender, listener].forEach((one) => one.close()));
    const said = await listener.record(id, RECORDED_MS);
    assert.ok(framesOf(said).microphone > 0, 'he is heard before');

    /** What the listener gets of Gus while his client sends all that he said before, as another page of his. */
    const heard = async (page: string): Promise<Frames> => {
      const sending = sender.serve(id, page, said);
      try {
        await until(async () => (await listener.pageOf(id)) === page, {
          withinMs: WITHIN_MS,
          what: () => `the page ${page}`,
        });
        const frames = framesOf(await listener.record(id, RECORDED_MS));
        t.diagnostic(`${page}: ${JSON.stringify(frames)}`);
        return frames;
      } finally {
        sending.end();
      }
    };
    assert.ok((await heard('zzzzzzzz01')).microphone > 0, 'as what is sent again is');
    await ask(olga, 'mute');
    await gus.page.getByTestId('muted-by-owner').waitFor();
    const muted = await heard('zzzzzzzz02');
    assert.equal(muted.microphone, 0);
    assert.ok(muted.camera > 0, 'the pictures go on');

    await ask(olga, 'unmute');
    await gus.page.getByTestId('muted-by-owner').waitFor({ state: 'detached' });
    assert.ok((await heard('zzzzzzzz03')).microphone > 0, 'he is heard again');
  });
});

interface Frames {
  readonly microphone: number;
  readonly camera: number;
}

const framesOf = ({ tracks }: Recording): Frames => ({
  microphone: tracks.get('microphone')?.length ?? 0,
  camera: tracks.get('camera/low')?.length ?? 0,
});

async function ask({ page }: Visitor, action: 'mute' | 'unmute'): Promise<void> {
  const person = page.getByTestId('person').filter({ hasText: 'Gus' });
  if (!(await person.isVisible())) await page.getByTestId('control-people').click();
  await person.getByTestId('person-menu').click();
  await person.getByTestId(action).click();
}
