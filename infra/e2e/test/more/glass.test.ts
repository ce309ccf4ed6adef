/** Latency from the camera to the display and from the microphone to the loudspeaker of another participant, and the offset between the two. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sessionsBecome } from '../../support/live-relays.ts';
import { connectsBy } from '../../support/paths.ts';
import { withSite } from '../../support/site.ts';
import { readSlates, slates } from '../../support/slate.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

const SETTLED_MS = 4000;
const WATCHED_MS = 10_000;

/** `shownMs`: twice what two busy processors were seen to take; `apartMs`: from peer to peer it is the browser's own doing. */
for (const { name, env, way, shownMs, apartMs } of [
  { name: 'from peer to peer', way: 'mesh', env: {}, shownMs: 200, apartMs: 150 },
  {
    name: 'through two relays',
    way: 'sfu',
    shownMs: 300,
    apartMs: 80,
    env: { PARLEY_LIMIT_MESH_PARTICIPANTS: '1', PARLEY_LIMIT_MEDIA_PARTICIPANTS_PER_RELAY: '1' },
  },
] as const)
  describe(`a call ${name}`, { timeout: 120_000 }, () => {
    const site = withSite(env);
    afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

    it('[MEDIA-14] shows a picture and plays its sound at the same time', async (t) => {
      const room = newRoom();
      const join = (who: string) =>
        Visitor.join(site.browser, { name: who, web: site.web, room, slate: true });
      const [ada, ben] = [await join('Ada'), await join('Ben')];
      for (const one of [ada, ben]) await connectsBy(one, way, 1);
      if (way === 'sfu') await sessionsBecome(site.stack.endpoints.relays, [1, 1]);
      await pause(SETTLED_MS);
      for (const { page } of [ada, ben]) await readSlates(page);
      await pause(WATCHED_MS);
      for (const one of [ada, ben]) {
        const [slate] = await slates(one.page);
        assert.ok(
          slate !== undefined && slate.apartMs.length >= 5,
          `${slate?.apartMs.length} flashes with a tone`,
        );
        const [picture, sound, apart] = [slate.pictureMs, slate.soundMs, slate.apartMs].map((all) =>
          median(all),
        );
        t.diagnostic(`${one.name}: pictures after ${picture} ms, sounds after ${sound}, ${apart} apart`);
        assert.ok(
          Math.abs(apart ?? Number.NaN) < apartMs,
          `${slate.apartMs.map(Math.round).join()} ms apart`,
        );
        assert.ok((picture ?? Number.NaN) < shownMs, `pictures after ${picture} ms`);
      }
    });
  });

function median(all: readonly number[]): number {
  return Math.round(all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN);
}
