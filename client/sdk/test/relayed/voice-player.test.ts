import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { MediaPorts, VoiceSink } from '../../src/relayed/media-ports.ts';
import { encodeFrame } from '../../src/relayed/frames.ts';
import { Playout } from '../../src/relayed/playout.ts';
import { VoicePlayer } from '../../src/relayed/voice-player.ts';
import { fakeClock } from '../fakes/clock.ts';

const PACKET_US = 40_000;
const RATE = 48_000;

/** As Chromium's: times are counted from the first packet since it began or was flushed. */
class CountingDecoder {
  static refuses = false;
  state = 'configured';
  decodeQueueSize = 0;
  readonly #output: (data: object) => void;
  #next: number | null = null;

  constructor({ output }: { readonly output: (data: object) => void }) {
    this.#output = output;
  }

  configure(): void {}

  flush(): Promise<void> {
    this.#next = null;
    return Promise.resolve();
  }

  decode({ timestamp }: { readonly timestamp: number }): void {
    if (CountingDecoder.refuses) return;
    const at = (this.#next ??= timestamp);
    this.#next += PACKET_US;
    const numberOfFrames = (PACKET_US / 1_000_000) * RATE;
    this.#output({
      timestamp: at,
      duration: PACKET_US,
      sampleRate: RATE,
      numberOfFrames,
      copyTo: (samples: Float32Array) => samples.fill(0.5),
      close: () => undefined,
    });
  }

  close(): void {
    this.state = 'closed';
  }
}

beforeEach(() => (CountingDecoder.refuses = false));

function playing(plays = true) {
  const clock = fakeClock();
  const played: number[] = [];
  let heard = 0;
  const sink: VoiceSink = {
    track: {} as MediaStreamTrack,
    blend: () => undefined,
    play: (_sound, at) => {
      if (plays) played.push(at);
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
    config: { codec: 'opus', container: { kind: 'legacy' }, sampleRate: RATE, numberOfChannels: 1 },
    media,
    clock,
    playout: new Playout(),
    sink,
    onHeard: () => (heard += 1),
  });
  const packet = (group: number, index: number, atMs: number, bytes = 10): void =>
    player.onFrame(group, index, encodeFrame({ timestamp: atMs * 1000, payload: new Uint8Array(bytes) }));
  return { clock, played, player, packet, heard: () => heard };
}

test('words are played as far apart as they were said, though decoders count through the pause', async () => {
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

test('what is lost within a word does not move the rest of it', async () => {
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

test('a voice is there with its first sound or a mark of silence, not with a packet that nobody hears', () => {
  const voice = playing();
  CountingDecoder.refuses = true;
  voice.packet(1, 0, 0);
  assert.equal(voice.heard(), 0);
  CountingDecoder.refuses = false;
  voice.packet(1, 1, 40);
  voice.packet(1, 2, 80);
  assert.equal(voice.heard(), 1);
  const silent = playing();
  silent.packet(1, 0, 0, 0);
  assert.equal(silent.heard(), 1);
  assert.deepEqual(silent.played, []);
});

test('what the sink leaves out is counted as lost', () => {
  const { packet, player, heard } = playing(false);
  packet(1, 0, 0);
  packet(1, 1, 40);
  assert.equal(player.tally.lost, 2);
  assert.equal(heard(), 0);
});
