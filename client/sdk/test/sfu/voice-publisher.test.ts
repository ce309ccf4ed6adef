import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Source } from '../../src/sfu/catalog.ts';
import type { Frame } from '../../src/sfu/frames.ts';
import type { MediaPorts, Sound } from '../../src/sfu/media-ports.ts';
import type { TrackWriter } from '../../src/sfu/track-writer.ts';
import { VoicePublisher } from '../../src/sfu/voice-publisher.ts';

const RATE = 48_000;
const BLOCK_MS = 10;
const PACKET_US = 40_000;
interface Block {
  readonly timestamp: number;
  readonly numberOfFrames: number;
}

/** Like Chromium's encoder: it counts times from the first audio since it started or was flushed, and keeps less than a packet until then. */
class Chromium {
  state = 'unconfigured';
  readonly #output: (chunk: object) => void;
  #next: number | null = null;
  #held = 0;

  constructor({ output }: { readonly output: (chunk: object) => void }) {
    this.#output = output;
  }

  configure(): void {
    this.state = 'configured';
  }

  encode({ timestamp, numberOfFrames }: Block): void {
    this.#next ??= timestamp;
    this.#held += (numberOfFrames / RATE) * 1_000_000;
    while (this.#held >= PACKET_US) this.#emit();
  }

  flush(): Promise<void> {
    if (this.#held > 0) this.#emit();
    this.#held = 0;
    this.forget();
    return Promise.resolve();
  }

  forget(): void {
    this.#next = null;
  }

  close(): void {
    this.state = 'closed';
  }

  #emit(): void {
    const timestamp = this.#next ?? 0;
    this.#next = timestamp + PACKET_US;
    this.#held -= PACKET_US;
    this.#output({ timestamp, byteLength: 3, copyTo: () => undefined });
  }
}

/** Like Firefox's encoder: it counts times from the first audio that it ever received. */
class Firefox extends Chromium {
  override forget(): void {}
}

type Span = readonly [number, number];
interface Saying {
  readonly words: readonly Span[];
  readonly untilMs: number;
  /** The page is busy, and audio captured meanwhile is lost. */
  readonly busy?: Span;
  readonly AudioEncoder?: typeof Chromium;
  readonly source?: Source;
  readonly level?: number;
}

/**
 * Publishes a voice that speaks `words`, each from one time to another in ms, and is silent otherwise, until `untilMs`. Returns what is written, and
 * when.
 */
async function said({
  words,
  untilMs,
  busy = [0, 0],
  AudioEncoder = Chromium,
  source = 'microphone',
  level = 0.3,
}: Saying) {
  const written: { readonly group: number; readonly at: number; readonly frame: Frame }[] = [];
  let [now, group] = [0, 0];
  let hear: (sound: Sound) => void = () => undefined;
  const writer = {
    name: 'microphone',
    wanted: true,
    onWanted: () => undefined,
    begin: () => (group += 1),
    write: (frame: Frame) => written.push({ group, at: now, frame }),
    end: () => undefined,
  } as unknown as TrackWriter;
  const media = {
    AudioEncoder,
    AudioData: function data(this: object, init: object) {
      Object.assign(this, init, { close: () => undefined });
    },
    readAudio: (_track: MediaStreamTrack, onSound: (sound: Sound) => void) => {
      hear = onSound;
      return { close: () => undefined };
    },
  } as unknown as MediaPorts;
  const publisher = new VoicePublisher({} as MediaStreamTrack, {
    source,
    writer: () => writer,
    media,
    now: () => now * 1000,
  });
  for (; now < untilMs; now += BLOCK_MS) {
    await setImmediate();
    if (now >= busy[0] && now < busy[1]) continue;
    const speaks = words.some(([from, to]) => now >= from && now < to);
    const samples = new Float32Array((BLOCK_MS / 1000) * RATE).fill(speaks ? level : 0);
    hear({ samples, sampleRate: RATE, timestamp: now * 1000 });
  }
  publisher.close();
  const packets = written.filter(({ frame }) => frame.payload.byteLength > 0);
  return { written, packets };
}

for (const AudioEncoder of [Chromium, Firefox]) {
  test(`every packet has the time of its capture, and no packet of a word waits for the next word, in ${AudioEncoder.name}`, async () => {
    const words = [
      [1000, 1130],
      [3000, 3170],
    ] as const;
    const { packets } = await said({ words, untilMs: 5000, AudioEncoder });
    for (const { at, frame } of packets) {
      const lateMs = at - frame.timestamp / 1000;
      assert.ok(lateMs >= 0 && lateMs <= 60, `a packet of ${frame.timestamp / 1000} ms came at ${at} ms`);
    }
    const times = packets.map(({ frame }) => frame.timestamp / 1000);
    assert.ok(times.some((time) => time >= 960 && time <= 1000) && times.some((time) => time >= 2960));
    assert.ok(!times.some((time) => time > 2000 && time < 2900), `silence is not sent: ${times.join()}`);
  });

  test(`audio after the page was busy for a moment has its own time, in ${AudioEncoder.name}`, async () => {
    const { packets } = await said({ words: [[0, 4000]], busy: [1000, 1700], untilMs: 4000, AudioEncoder });
    const times = packets.map(({ frame }) => frame.timestamp / 1000);
    assert.ok(times.some((time) => time > 3900));
    assert.ok(!times.some((time) => time > 1000 && time < 1700), times.join());
  });
}

test('a word is in groups of about a second, followed by an empty group', async () => {
  const { written, packets } = await said({ words: [[1000, 4000]], untilMs: 6000 });
  const groups = new Map<number, number>();
  for (const { group } of packets) groups.set(group, (groups.get(group) ?? 0) + 1);
  assert.ok(groups.size >= 3 && groups.size <= 4, `${groups.size} groups`);
  assert.ok([...groups.values()].every((count) => count <= 25));
  assert.equal(written.at(-1)?.frame.payload.byteLength, 0);
  assert.ok((written.at(-1)?.group ?? 0) > Math.max(...groups.keys()));
});

test('quiet music of a shared screen is sent to its end; from a microphone it soon counts as noise', async () => {
  const playing: Saying = { words: [[0, 90_000]], untilMs: 92_000, level: 0.01 };
  const [screen, microphone] = await Promise.all([
    said({ ...playing, source: 'screen-audio' }),
    said(playing),
  ]);
  const last = ({ packets }: typeof screen): number => (packets.at(-1)?.frame.timestamp ?? 0) / 1000;
  assert.ok(last(screen) > 89_900 && last(screen) < 91_000, `${last(screen)} ms`);
  assert.ok(last(microphone) < 89_000, `${last(microphone)} ms`);
});

test('a track that cannot be read does not affect others, and is tried again with the next subscriber', () => {
  let [tries, marks] = [0, 0];
  const writer = {
    name: 'microphone',
    wanted: true,
    onWanted: () => undefined,
    begin: () => undefined,
    write: () => (marks += 1),
    end: () => undefined,
  };
  const readAudio = (): { readonly close: () => void } => {
    tries += 1;
    if (tries < 3) throw new DOMException('another rate', 'NotSupportedError');
    return { close: () => undefined };
  };
  const publisher = new VoicePublisher({} as MediaStreamTrack, {
    source: 'microphone',
    writer: () => writer as unknown as TrackWriter,
    media: { readAudio } as unknown as MediaPorts,
    now: () => 0,
  });
  writer.onWanted();
  assert.deepEqual([tries, marks], [2, 0], 'no mark is sent');
  writer.onWanted();
  writer.onWanted();
  assert.deepEqual([tries, marks], [3, 1]);
  publisher.close();
});
