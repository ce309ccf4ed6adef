import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame } from '../../src/relayed/frames.ts';
import type { MediaPorts } from '../../src/relayed/media-ports.ts';
import { PicturePlayer } from '../../src/relayed/picture-player.ts';
import { Playout } from '../../src/relayed/playout.ts';
import { fakeClock } from '../fakes/clock.ts';

/** Of a group: two seconds at 30 a second. */
const GROUP = 60;
/** What a decoder has for pictures that nobody has taken back yet. */
const HAS = 10;

interface Chunk {
  readonly type: 'key' | 'delta';
  readonly timestamp: number;
}

/** Puts pictures into the order of their times, as those of H.264 do, and holds `behind` of them back for that. */
function decoderWith(behind: number) {
  const seen = { most: 0, open: 0 };
  class Decoder {
    state = 'configured';
    decodeQueueSize = 0;
    readonly #output: (frame: object) => void;
    readonly #inside: number[] = [];

    constructor({ output }: { readonly output: (frame: object) => void }) {
      this.#output = output;
    }

    configure(): void {}

    decode({ timestamp }: Chunk): void {
      this.#inside.push(timestamp);
      this.#inside.sort((one, other) => one - other);
      if (this.#inside.length <= behind) return;
      seen.open += 1;
      seen.most = Math.max(seen.most, seen.open);
      this.#output({ timestamp: this.#inside.shift(), close: () => (seen.open -= 1) });
    }

    close(): void {
      this.state = 'closed';
    }
  }
  return { Decoder, seen };
}

function playing({ perSecond = 30, behind = 0 } = {}) {
  const clock = fakeClock();
  const { Decoder, seen } = decoderWith(behind);
  const shown: { readonly of: number; readonly at: number }[] = [];
  const media = {
    VideoDecoder: Decoder,
    EncodedVideoChunk: function chunk(this: object, init: object) {
      Object.assign(this, init);
    },
  } as unknown as MediaPorts;
  const player = new PicturePlayer({
    config: { codec: 'vp8', container: { kind: 'legacy' }, codedWidth: 320, codedHeight: 180 },
    media,
    clock,
    playout: new Playout(),
    sink: {
      track: {} as MediaStreamTrack,
      show: (frame) => {
        shown.push({ of: frame.timestamp / 1000, at: clock.now() });
        frame.close();
      },
      close: () => undefined,
    },
    onShown: () => undefined,
  });
  const everyMs = 1000 / perSecond;
  /** Pictures up to here come when they are taken; those that were taken in a stall come all at its end. */
  const until = async (endMs: number, stall = { fromMs: Infinity, toMs: Infinity }): Promise<void> => {
    for (; next * everyMs < endMs; next += 1) {
      const taken = next * everyMs;
      const comes = taken >= stall.fromMs ? Math.max(taken, stall.toMs) : taken;
      await clock.advance(Math.max(0, comes - clock.now()));
      const frame = encodeFrame({ timestamp: Math.round(taken * 1000), payload: new Uint8Array(10) });
      player.onFrame(Math.floor(next / GROUP), next % GROUP, frame);
    }
  };
  let next = 0;
  return { clock, player, shown, seen, until };
}

for (const perSecond of [10, 30, 60])
  test(`pictures are shown also where they wait for long, ${perSecond} a second`, async () => {
    const { shown, seen, until } = playing({ perSecond });
    await until(4000, { fromMs: 1000, toMs: 1450 });
    const since = shown.filter(({ at }) => at > 2000 && at < 3000);
    assert.ok(since.length > perSecond * 0.9, `${since.length} were shown in a second`);
    const waited = since.map(({ of, at }) => at - of);
    assert.ok(Math.min(...waited) > 300, 'the delay is that of the one that came last');
    assert.ok(seen.most <= HAS, `${seen.most} decoded pictures waited`);
  });

test('pictures are shown also by a decoder that holds back more of them than are decoded ahead', async () => {
  const { shown, until } = playing({ behind: 12 });
  await until(4000, { fromMs: 1000, toMs: 1450 });
  const since = shown.filter(({ at }) => at > 2000 && at < 3000);
  assert.ok(since.length > 27, `${since.length} were shown in a second`);
});

test('what was decoded is given back in the end, and nothing is waited for', async () => {
  const { clock, player, seen, until } = playing();
  await until(2000, { fromMs: 1000, toMs: 1450 });
  assert.ok(seen.open > 0 && clock.pending > 0);
  player.close();
  assert.deepEqual([seen.open, clock.pending], [0, 0]);
});
