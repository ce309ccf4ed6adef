import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { browserMedia } from '../../src/sfu/browser-media.ts';
import type { PageMedia, Sound } from '../../src/sfu/media-ports.ts';

const SHARED_RATE = 48_000;
const page = {} as PageMedia;
const names = ['AudioContext', 'MediaStream', 'MediaStreamTrackProcessor', 'AudioData'];

afterEach(() => names.forEach((name) => Reflect.deleteProperty(globalThis, name)));

function give(values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(globalThis, name, { value, configurable: true });
}

/** Like Firefox's context: it refuses audio of another sample rate than its own. */
class Context extends EventTarget {
  static readonly made: Context[] = [];
  static deviceRate = SHARED_RATE;
  readonly sampleRate: number;
  readonly destination = {};
  state = 'suspended';
  readonly tap = Object.assign(new EventTarget(), { connect: () => undefined, disconnect: () => undefined });

  constructor({ sampleRate = Context.deviceRate }: { readonly sampleRate?: number }) {
    super();
    this.sampleRate = sampleRate;
    Context.made.push(this);
  }

  createMediaStreamSource({ rate }: { readonly rate: number }): object {
    if (rate !== this.sampleRate) throw new DOMException('another rate', 'NotSupportedError');
    return { context: this, connect: () => undefined, disconnect: () => undefined };
  }

  createScriptProcessor(): EventTarget {
    return this.tap;
  }

  resume(): Promise<void> {
    this.state = 'running';
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.state = 'closed';
    return Promise.resolve();
  }

  /** A block of audio that the tap receives. */
  speak(): void {
    const { sampleRate } = this;
    const inputBuffer = { sampleRate, getChannelData: () => new Float32Array([0.5]) };
    this.tap.dispatchEvent(Object.assign(new Event('audioprocess'), { inputBuffer, playbackTime: 2 }));
  }
}

function inFirefox(deviceRate: number) {
  Context.deviceRate = deviceRate;
  Context.made.length = 0;
  const Stream = function stream(this: object, [track]: readonly object[]) {
    Object.assign(this, track);
  };
  give({ AudioContext: Context, MediaStream: Stream });
  const received: Sound[] = [];
  const read = (rate: number) =>
    browserMedia(page).readAudio({ rate } as unknown as MediaStreamTrack, (sound) => received.push(sound));
  return { received, read };
}

test('a microphone with another sample rate than the shared context is read in a separate context, closed with the reader', () => {
  const { received, read } = inFirefox(44_100);
  const reader = read(44_100);
  const own = Context.made.at(-1);
  own?.speak();
  assert.deepEqual(received, [
    { samples: new Float32Array([0.5]), sampleRate: 44_100, timestamp: 2_000_000 },
  ]);
  assert.equal(own?.state, 'running');
  reader.close();
  assert.equal(own?.state, 'closed');
  const before = Context.made.length;
  const usual = read(SHARED_RATE);
  assert.ok(Context.made.length <= before, 'the shared one does');
  usual.close();
  assert.ok(Context.made.every((one) => one === own || one.state !== 'closed'));
});

test('if no context accepts a track, none is left open', () => {
  const { read } = inFirefox(44_100);
  assert.throws(() => read(16_000), { name: 'NotSupportedError' });
  assert.equal(Context.made.at(-1)?.state, 'closed');
});

test('the audio of a shared screen has both its channels', async () => {
  const planes = [
    [0.5, 0, 0.25],
    [0, 0.5, 0.25],
  ];
  let closed = 0;
  const data = {
    numberOfFrames: 3,
    numberOfChannels: 2,
    sampleRate: SHARED_RATE,
    timestamp: 7,
    copyTo: (into: Float32Array, { planeIndex }: { readonly planeIndex: number }) =>
      into.set(planes[planeIndex] ?? []),
    close: () => (closed += 1),
  };
  const Processor = function processor(this: object) {
    Object.assign(this, { readable: new ReadableStream({ start: (queue) => queue.enqueue(data) }) });
  };
  give({ MediaStreamTrackProcessor: Processor });
  const received: Sound[] = [];
  const own = { stop: () => undefined };
  const track = { clone: () => own } as unknown as MediaStreamTrack;
  const reader = browserMedia(page).readAudio(track, (sound) => received.push(sound));
  await setImmediate();
  reader.close();
  assert.deepEqual(received, [
    { samples: new Float32Array([0.25, 0.25, 0.25]), sampleRate: SHARED_RATE, timestamp: 7 },
  ]);
  assert.equal(closed, 1);
});
