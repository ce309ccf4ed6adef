import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Container } from '../../src/sfu/catalog.ts';
import type { MediaPorts, VoiceSink } from '../../src/sfu/media-ports.ts';
import { encodeFrame } from '../../src/sfu/frames.ts';
import { Playout } from '../../src/sfu/playout.ts';
import { VoicePlayer } from '../../src/sfu/voice-player.ts';
import { fragmentOf, headerOf } from '../fakes/boxes.ts';
import { fakeClock } from '../fakes/clock.ts';

const PACKET_US = 40_000;
const RATE = 48_000;

/** Like Chromium's decoder: it counts times from the first packet since it started or was flushed. */
class CountingDecoder {
  static refuses = false;
  static sounds: readonly number[] = [0.5];
  /** It processes the packets of one turn of the event loop after that turn. */
  static queues = false;
  /** What it has to do, in that order, where a test says when it is done. */
  static work: (() => void)[] | null = null;
  static fails = false;
  static made = 0;
  state = 'configured';
  decodeQueueSize = 0;
  readonly #output: (data: object) => void;
  #next: number | null = null;

  constructor({ output }: { readonly output: (data: object) => void }) {
    this.#output = output;
    CountingDecoder.made += 1;
  }

  configure(): void {}

  static finish(): void {
    for (const act of CountingDecoder.work?.splice(0) ?? []) act();
  }

  flush(): Promise<void> {
    const flush = (): void => void (this.#next = null);
    if (CountingDecoder.work === null) flush();
    else CountingDecoder.work.push(flush);
    return Promise.resolve();
  }

  decode({ timestamp }: { readonly timestamp: number }): void {
    if (CountingDecoder.fails) throw new DOMException('', 'DataError');
    if (CountingDecoder.refuses) return;
    if (CountingDecoder.queues) this.decodeQueueSize += 1;
    if (CountingDecoder.work === null) return this.#decoded(timestamp);
    this.decodeQueueSize += 1;
    CountingDecoder.work.push(() => {
      this.decodeQueueSize -= 1;
      this.#decoded(timestamp);
    });
  }

  #decoded(timestamp: number): void {
    const at = (this.#next ??= timestamp);
    this.#next += PACKET_US;
    const numberOfFrames = (PACKET_US / 1_000_000) * RATE;
    this.#output({
      timestamp: at,
      duration: PACKET_US,
      sampleRate: RATE,
      numberOfFrames,
      numberOfChannels: 1,
      copyTo: (samples: Float32Array) =>
        samples.set(
          Array.from(samples, (_, at) => CountingDecoder.sounds[at % CountingDecoder.sounds.length] ?? 0),
        ),
      close: () => undefined,
    });
  }

  close(): void {
    this.state = 'closed';
  }
}

beforeEach(() => {
  CountingDecoder.refuses = false;
  CountingDecoder.queues = false;
  CountingDecoder.work = null;
  CountingDecoder.fails = false;
  CountingDecoder.made = 0;
  CountingDecoder.sounds = [0.5];
});

function playing(plays = true, container: Container = { kind: 'legacy' }) {
  const clock = fakeClock();
  const played: number[] = [];
  const samples: Float32Array[] = [];
  let received = 0;
  const sink: VoiceSink = {
    track: {} as MediaStreamTrack,
    blend: () => undefined,
    play: (sound, at) => {
      if (plays) played.push(at);
      samples.push(sound.samples);
      return plays;
    },
    close: () => undefined,
  };
  const media = {
    AudioDecoder: CountingDecoder,
    EncodedAudioChunk: function chunk(this: object, init: object) {
      Object.assign(this, init);
    },
  } as unknown as MediaPorts;
  const player = new VoicePlayer({
    config: { codec: 'opus', container, sampleRate: RATE, numberOfChannels: 1 },
    media,
    clock,
    playout: new Playout(),
    sink,
    onReceived: () => (received += 1),
  });
  const packet = (group: number, index: number, atMs: number, bytes = 10): void =>
    player.onFrame(group, index, encodeFrame({ timestamp: atMs * 1000, payload: new Uint8Array(bytes) }));
  return { clock, played, samples, player, packet, received: () => received };
}

test('words are played at the intervals of their capture, although decoders do not count the pause', async () => {
  const { clock, played, packet } = playing();
  const said = [0, 40, 80, 1500, 1540, 1580];
  for (const [nth, at] of said.entries()) {
    await clock.advance(at - clock.now());
    packet(at < 1000 ? 1 : 2, nth % 3, at);
  }
  assert.deepEqual(
    played.map((at) => at - (played[0] ?? 0)),
    said,
  );
});

test('a loss within a word does not shift its remainder', async () => {
  const { clock, played, packet } = playing();
  for (const at of [0, 40, 80]) {
    await clock.advance(at - clock.now());
    packet(1, at / 40, at);
  }
  await clock.advance(1000 - clock.now());
  packet(3, 0, 1000);
  assert.equal(played.length, 3, 'the rest of the group may still come');
  await clock.advance(60);
  packet(3, 1, 1040);
  assert.deepEqual(
    played.map((at) => at - (played[0] ?? 0)),
    [0, 40, 80, 1000, 1040],
  );
});

test('of the packets that come at once with a subscription those that the decoder has no room for shift none that follow', async () => {
  const { clock, played, packet } = playing();
  CountingDecoder.work = [];
  await clock.advance(1000);
  for (let nth = 0; nth < 25; nth += 1) packet(1, nth, nth * 40);
  CountingDecoder.finish();
  const before = played.length;
  for (const at of [1000, 1040, 1080]) {
    await clock.advance(at - clock.now());
    packet(1, at / 40, at);
    CountingDecoder.finish();
  }
  const first = played[before] ?? 0;
  assert.ok(first >= clock.now() - 80, `played ${clock.now() - first} ms late`);
  assert.deepEqual(
    played.slice(before).map((at) => at - first),
    [0, 40, 80],
  );
});

test('a loss before the first audio shifts nothing for longer than a packet', async () => {
  const { clock, played, packet } = playing();
  CountingDecoder.work = [];
  await clock.advance(1000);
  packet(1, 0, 0);
  packet(3, 0, 1000);
  await clock.advance(60);
  packet(3, 1, 1040);
  CountingDecoder.finish();
  const before = played.length;
  for (const [nth, at] of [1080, 1120].entries()) {
    packet(3, 2 + nth, at);
    CountingDecoder.finish();
  }
  assert.ok((played[before] ?? 0) >= 1080, played.join());
});

test('a voice is present with its first audio or a mark of silence, not with a packet that is not played', () => {
  const voice = playing();
  CountingDecoder.refuses = true;
  voice.packet(1, 0, 0);
  assert.equal(voice.received(), 0);
  CountingDecoder.refuses = false;
  voice.packet(1, 1, 40);
  voice.packet(1, 2, 80);
  assert.equal(voice.received(), 1);
  const silent = playing();
  silent.packet(1, 0, 0, 0);
  assert.equal(silent.received(), 1);
  assert.deepEqual(silent.played, []);
});

test('audio that the sink leaves out counts as lost', () => {
  const { packet, player, received } = playing(false);
  packet(1, 0, 0);
  packet(1, 1, 40);
  assert.equal(player.counters.lost, 2);
  assert.equal(received(), 0);
});

test('a fragment is decoded as a whole, however many samples it has', () => {
  CountingDecoder.queues = true;
  const init = Buffer.from(headerOf(PACKET_US / 1000)).toString('base64');
  const { player, played } = playing(true, { kind: 'cmaf', init });
  player.onFrame(1, 0, fragmentOf(25, 0));
  assert.deepEqual([played.length, player.counters.lost], [25, 0]);
  assert.equal((played.at(-1) ?? 0) - (played[0] ?? 0), 24 * 40);
  player.onFrame(1, 1, fragmentOf(25, 0));
  assert.deepEqual(
    [played.length, player.counters.lost],
    [25, 25],
    'a decoder that is behind is given no more',
  );
});

test('[MEDIA-14] a decoder that fails is replaced, but not for every packet', async () => {
  CountingDecoder.fails = true;
  const { clock, packet } = playing();
  for (let nth = 0; nth < 1000; nth += 1) {
    packet(1, nth, nth);
    await clock.advance(1);
  }
  const { made } = CountingDecoder;
  assert.ok(made > 1 && made < 5, `${made} were made in a second`);
});

test('[MEDIA-14] samples that are not numbers or exceed full scale do not reach the mix', async () => {
  const { clock, played, samples, player, packet } = playing();
  CountingDecoder.sounds = [Number.NaN, 1e30, -1e30, Number.POSITIVE_INFINITY, 0.25];
  packet(1, 0, 0);
  assert.deepEqual([...(samples[0] ?? [])].slice(0, 5), [0, 1, -1, 0, 0.25]);
  await clock.advance((played[0] ?? 0) - clock.now());
  assert.equal(player.level(), 1);
});

test('the history of levels is bounded, also if it is never read', async (context) => {
  const { clock, player, packet } = playing();
  for (let nth = 0; nth < 2000; nth += 1) packet(1, nth, 0);
  await clock.advance(100);
  const max = context.mock.method(Math, 'max');
  assert.equal(player.level(), 0.5);
  const most = max.mock.calls.reduce((many, { arguments: { length } }) => (length > many ? length : many), 0);
  assert.ok(most > 1 && most < 600, `${most} peaks`);
});
