import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Broadcast, Track } from '@moq/net';
import type { MediaPorts } from '../../src/sfu/media-ports.ts';
import { Publisher } from '../../src/sfu/publisher.ts';
import { fakeClock } from '../fakes/clock.ts';
import { fakeTrack } from '../fakes/media.ts';

const PAST_THE_CACHE_MS = 60_000;

/** A broadcast that had no subscriber for longer than the library keeps groups. */
function unwatched(t: TestContext): { publisher: Publisher; broadcast: Broadcast.Producer } {
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const publisher = new Publisher({
    media: {} as MediaPorts,
    clock: fakeClock(),
    codec: null,
    keys: null,
  });
  const broadcast = publisher.broadcast();
  t.after(() => {
    publisher.close();
    mock.timers.reset();
  });
  mock.timers.tick(PAST_THE_CACHE_MS);
  return { publisher, broadcast };
}

/** The number of its next group, and how many voices it lists. */
async function next(from: Track.Subscriber): Promise<{ sequence: number; voices: number }> {
  const group = await from.recvGroup();
  const frame = await group?.readFrame();
  const { audio } = JSON.parse(new TextDecoder().decode(frame?.payload)) as {
    audio: { renditions: Record<string, unknown> };
  };
  return { sequence: group?.sequence ?? Number.NaN, voices: Object.keys(audio.renditions).length };
}

test('[MEDIA-14] each subscriber gets the catalog, however late it comes, and all get the next one, with a greater number', async (t) => {
  const { publisher, broadcast } = unwatched(t);
  const first = broadcast.subscribe('catalog.json');
  const one = await next(first);
  mock.timers.tick(PAST_THE_CACHE_MS);
  const second = broadcast.subscribe('catalog.json');
  const other = await next(second);
  assert.ok(other.sequence > one.sequence);
  assert.equal(other.voices, 0);
  publisher.set({ microphone: fakeTrack('audio'), camera: null, screen: null });
  const [atFirst, atSecond] = [await next(first), await next(second)];
  assert.deepEqual(atFirst, atSecond);
  assert.ok(atFirst.sequence > other.sequence);
  assert.equal(atFirst.voices, 1);
});

test('a track that is not published is refused', async (t) => {
  const { broadcast } = unwatched(t);
  const unknown = broadcast.subscribe('camera/none');
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  assert.ok(unknown.closed.peek() instanceof Error);
});
