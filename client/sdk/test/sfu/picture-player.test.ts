import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame } from '../../src/sfu/frames.ts';
import type { MediaPorts } from '../../src/sfu/media-ports.ts';
import { PicturePlayer } from '../../src/sfu/picture-player.ts';
import { Playout } from '../../src/sfu/playout.ts';
import { fakeClock } from '../fakes/clock.ts';

/** The pictures of a group: two seconds at 30 a second. */
const GROUP = 60;
/** The number of pictures that a decoder can output before they are closed. */
const HAS = 10;

type Pixels = readonly [width: number, height: number];

interface Chunk {
  readonly type: 'key' | 'delta';
  readonly timestamp: number;
}

interface Made {
  readonly behind: number;
  readonly size: Pixels;
  readonly shownAs: Pixels;
  readonly fails: boolean;
}

/** A decoder that outputs pictures in the order of their times, as for H.264, and holds back `behind` pictures for it. */
function decoderWith({ behind, size, shownAs, fails }: Made) {
  const seen = { most: 0, open: 0, asked: 0, given: 0, made: 0 };
  /** The matrix of each configuration, and after how many frames it came. */
  const configured: [matrix: unknown, after: number][] = [];
  class Decoder {
    state = 'configured';
    decodeQueueSize = 0;
    readonly #output: (frame: object) => void;
    readonly #inside: number[] = [];

    constructor({ output }: { readonly output: (frame: object) => void }) {
      this.#output = output;
      seen.made += 1;
    }

    configure({ colorSpace }: VideoDecoderConfig): void {
      configured.push([colorSpace?.matrix, seen.given]);
    }

    decode({ timestamp }: Chunk): void {
      if (fails) throw new DOMException('', 'DataError');
      seen.given += 1;
      this.#inside.push(timestamp);
      this.#inside.sort((one, other) => one - other);
      if (this.#inside.length <= behind) return;
      seen.open += 1;
      seen.most = Math.max(seen.most, seen.open);
      const [codedWidth, codedHeight] = size;
      const oldest = this.#inside.shift();
      this.#output({
        get timestamp() {
          seen.asked += 1;
          return oldest;
        },
        codedWidth,
        codedHeight,
        displayWidth: shownAs[0],
        displayHeight: shownAs[1],
        close: () => (seen.open -= 1),
      });
    }

    close(): void {
      this.state = 'closed';
    }
  }
  return { Decoder, seen, configured };
}

function playing({
  perSecond = 30,
  behind = 0,
  size = [320, 180] as Pixels,
  said = [320, 180] as Pixels,
  shownAs = undefined as Pixels | undefined,
  fails = false,
} = {}) {
  const clock = fakeClock();
  const { Decoder, seen, configured } = decoderWith({ behind, size, shownAs: shownAs ?? size, fails });
  const shown: { readonly of: number; readonly at: number }[] = [];
  const refused: number[] = [];
  const media = {
    VideoDecoder: Decoder,
    EncodedVideoChunk: function chunk(this: object, init: object) {
      Object.assign(this, init);
    },
  } as unknown as MediaPorts;
  const player = new PicturePlayer({
    config: { codec: 'vp8', container: { kind: 'legacy' }, codedWidth: said[0], codedHeight: said[1] },
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
    onRefused: () => refused.push(clock.now()),
  });
  const everyMs = 1000 / perSecond;
  /** Delivers pictures up to this time when they are captured; those captured during a stall arrive together at its end. */
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
  return { clock, player, shown, refused, seen, configured, until };
}

for (const perSecond of [10, 30, 60])
  test(`pictures are shown also if they wait long, ${perSecond} a second`, async () => {
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

test('decoded pictures are closed in the end, and nothing stays pending', async () => {
  const { clock, player, seen, until } = playing();
  await until(2000, { fromMs: 1000, toMs: 1450 });
  assert.ok(seen.open > 0 && clock.pending > 0);
  player.close();
  assert.deepEqual([seen.open, clock.pending], [0, 0]);
});

test('[MEDIA-14] a picture with more pixels than the limit is not shown, and nothing after it is decoded', async () => {
  const { player, shown, refused, seen, until } = playing({ size: [16_383, 16_383] });
  await until(2000);
  assert.deepEqual([shown.length, seen.open, seen.most, refused.length], [0, 0, 1, 1]);
  player.onCut();
  assert.equal(player.counters.cut, 0, 'nor does what comes of it afterwards count as trouble');
  player.close();
});

test('[MEDIA-14] a picture that declares a display size above the limit is not shown', async () => {
  const { player, shown, refused, seen, until } = playing({ size: [16, 16], shownAs: [16_000, 16_000] });
  await until(2000);
  assert.deepEqual([shown.length, seen.open, seen.most, refused.length], [0, 0, 1, 1]);
  player.close();
});

test('[MEDIA-14] a decoder that still decodes the first picture of a group does not receive that of another group', () => {
  const { player, seen } = playing({ behind: 100 });
  for (let group = 0; group < 20; group += 1)
    player.onFrame(group, 0, encodeFrame({ timestamp: group * 1000, payload: new Uint8Array(10) }));
  assert.equal(seen.given, 1);
  player.close();
});

test('[MEDIA-14] colors that a later catalog has are used from the next key frame on', async () => {
  const { player, configured, until } = playing();
  player.setColors(undefined);
  await until(500);
  player.setColors({ matrix: 'smpte170m' });
  await until(1900);
  assert.deepEqual(configured, [[undefined, 0]]);
  player.setColors({ matrix: 'smpte170m' });
  await until(4500);
  assert.deepEqual(configured, [
    [undefined, 0],
    ['smpte170m', GROUP],
  ]);
  player.close();
});

test('[MEDIA-14] a decoder that fails is replaced, but not for every picture', async () => {
  const { clock, player, seen } = playing({ fails: true });
  for (let group = 0; group < 100; group += 1) {
    player.onFrame(group, 0, encodeFrame({ timestamp: group * 10_000, payload: new Uint8Array(10) }));
    await clock.advance(10);
  }
  assert.ok(seen.made > 1 && seen.made < 5, `${seen.made} were made in a second`);
  player.close();
});

test('[MEDIA-14] a key frame of VP8 above the limit is not given to a decoder', async () => {
  const { clock, player, shown, seen } = playing();
  const payload = new Uint8Array([0, 0, 0, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0x3f]);
  for (let group = 0; group < 3; group += 1)
    player.onFrame(group, 0, encodeFrame({ timestamp: group * 33_333, payload }));
  await clock.advance(2000);
  assert.deepEqual([shown.length, seen.most], [0, 0]);
});

for (const [what, said, size, taken] of [
  ['a window that grew to full HD', [200, 100], [1920, 1080], true],
  ['a phone that is turned', [1920, 1080], [1080, 1920], true],
  ['4K, in whole blocks', [3840, 2160], [3840, 2176], true],
  ['4K that was said to be small', [320, 180], [3840, 2160], false],
  ['more than 4K, whatever was said', [8192, 8192], [4096, 2304], false],
] as const)
  test(`[MEDIA-14] ${what} is ${taken ? 'shown' : 'not shown'}`, async () => {
    const { player, clock, shown, seen, until } = playing({ said, size });
    await until(2000);
    assert.equal(shown.length > 50, taken);
    if (!taken) assert.deepEqual([seen.most, seen.open, clock.pending], [1, 0, 0]);
    player.close();
  });

test('fewer pictures wait if they are large', async () => {
  const { shown, seen, until } = playing({ said: [3840, 2160], size: [3840, 2160] });
  await until(4000, { fromMs: 1000, toMs: 1450 });
  const since = shown.filter(({ at }) => at > 2000 && at < 3000);
  assert.ok(since.length > 27, `${since.length} were shown in a second`);
  assert.ok(seen.most <= 7, `${seen.most} decoded pictures waited`);
});

test('frames that decode to no picture do not accumulate', async () => {
  const { player, seen, until } = playing({ behind: 2000 });
  await until((2010 * 1000) / 30);
  assert.ok(seen.asked > 0 && seen.asked < 2000, `${seen.asked} were looked at for a few pictures`);
  player.close();
});
