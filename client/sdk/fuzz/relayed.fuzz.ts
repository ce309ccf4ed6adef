/** What others publish through relays: catalogs, frames of hang's two containers, and signals, which come through the service. */
import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import {
  nearly,
  nearlyJson,
  textOf,
  UNKNOWN_FIELD,
  utf8,
  type Target,
} from '../../../scripts/fuzz/target.ts';
import { webCompression } from '../src/net/compression.ts';
import { decodeSignal, encodeSignal } from '../src/mesh/payload.ts';
import { chooseAudio, chooseVideo, readCatalog, MAX_PIXELS } from '../src/sfu/catalog.ts';
import { readFragment, readHeader } from '../src/sfu/cmaf.ts';
import { unpackerOf } from '../src/sfu/container.ts';
import { decodeFrame, encodeFrame, type Frame } from '../src/sfu/frames.ts';
import { box, bytes, fragmentOf, headerOf, u32 } from '../test/fakes/boxes.ts';

const MAX_FRAMES = 2000;
const header = headerOf(20);

/** Frames never have more bytes together than came, and times that decoders take. */
function checkFrames(frames: readonly Frame[], bytes: number): void {
  const payload = frames.reduce((sum, frame) => sum + frame.payload.byteLength, 0);
  assert.ok(
    frames.length <= MAX_FRAMES && payload <= bytes,
    `${frames.length} frames, ${payload} bytes of ${bytes}`,
  );
  for (const { timestamp, payload } of frames) {
    assert.ok(Number.isSafeInteger(timestamp), `a frame at ${timestamp}`);
    assert.ok(payload.buffer.byteLength <= bytes, 'a frame keeps more in memory than came');
  }
}

const legacy: Target = {
  name: 'container-legacy',
  inputs: fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    nearly(
      [0, 63, 64, 16_384, 2 ** 30, 2 ** 40].map((timestamp) =>
        encodeFrame({ timestamp, payload: utf8('payload') }),
      ),
    ),
  ),
  check(input) {
    const frame = decodeFrame(input);
    if (frame === undefined) return false;
    checkFrames([frame], input.length);
    assert.deepEqual(decodeFrame(encodeFrame(frame)), frame);
    return true;
  },
};

/** One sample at a time of 64 bits. */
const wideTime = bytes(
  box('moof', box('traf', box('tfhd', u32(0, 1)), box('tfdt', u32(1 << 24, 1, 0)), box('trun', u32(0, 1)))),
  box('mdat', [1]),
);

/** Two bytes say how long the header is; the fragment follows. */
function joined(header: Uint8Array, fragment: Uint8Array): Uint8Array {
  return Uint8Array.from([header.length >> 8, header.length & 255, ...header, ...fragment]);
}

const cmaf: Target = {
  name: 'container-cmaf',
  inputs: fc.oneof(
    nearly(
      [1, 3, 40].map((samples) => joined(header, fragmentOf(samples, 1000))),
      [
        'moof',
        'mdat',
        'traf',
        'tfhd',
        'tfdt',
        'trun',
        'moov',
        'mdhd',
        'trex',
        '\0\0\0\u0008',
        '\0\0\0\u0001',
      ],
    ),
    nearly([fragmentOf(1, 1000), fragmentOf(3, 1000), wideTime]).map((fragment) => joined(header, fragment)),
  ),
  check(input) {
    const length = ((input[0] ?? 0) << 8) | (input[1] ?? 0);
    const track = readHeader(input.subarray(2, 2 + length));
    if (track === undefined) return false;
    const fragment = input.slice(2 + length);
    const frames = readFragment(fragment, track);
    checkFrames(frames, fragment.length);
    return frames.length > 0;
  },
};

const rendition = { codec: 'vp8', container: { kind: 'legacy' }, codedWidth: 640, codedHeight: 360 };
const fragments = { kind: 'cmaf', init: Buffer.from(header).toString('base64') };
const catalogs = [
  {
    video: {
      renditions: {
        'camera/low': rendition,
        'camera/high': { ...rendition, codedWidth: 4096, codedHeight: 4096 },
      },
    },
  },
  {
    video: {
      renditions: {
        '0.hev': { ...rendition, codec: 'avc1.42001f', container: fragments, description: '00ff' },
      },
    },
  },
  {
    audio: {
      renditions: {
        microphone: { codec: 'opus', container: fragments, sampleRate: 48_000, numberOfChannels: 2 },
      },
    },
  },
  {
    audio: {
      renditions: {
        microphone: {
          codec: 'opus',
          container: { kind: 'cmaf', init: 'A' },
          sampleRate: 48_000,
          numberOfChannels: 2,
        },
      },
    },
  },
  { seal: { scheme: 'aes-128-gcm', key: '0123456789abcdef' } },
];

const catalog: Target = {
  name: 'catalog',
  inputs: nearlyJson(catalogs),
  check(input) {
    const read = readCatalog(textOf(input));
    if (read === undefined) return false;
    const written = JSON.stringify(read);
    assert.equal(JSON.stringify(readCatalog(written)), written);
    assert.doesNotMatch(written, UNKNOWN_FIELD);
    for (const source of ['camera', 'screen', 'microphone', 'screen-audio'] as const) {
      const video = chooseVideo(read, source, { width: 640, height: 360 });
      assert.ok(video === undefined || video.codedWidth * video.codedHeight <= MAX_PIXELS);
      for (const chosen of [video, chooseAudio(read, source)]) {
        if (chosen === undefined) continue;
        assert.match(chosen.track, /^[a-z0-9/._-]{1,64}$/);
        checkFrames(unpackerOf(chosen.container)(fragmentOf(2, 0)), 400);
      }
    }
    return true;
  },
};

const compression = webCompression();
const MAX_INFLATED_BYTES = 1 << 20;
const signals = [
  {
    type: 'description',
    session: 1,
    round: 1,
    kind: 'offer',
    sdp: 'v=0\r\n'.repeat(40),
    roles: [{ mid: '0', role: 'camera' }],
  },
  {
    type: 'candidates',
    session: 2,
    candidates: [{ candidate: 'candidate:1', sdpMid: '0', sdpMLineIndex: 0, usernameFragment: null }],
  },
  { type: 'renew', session: 3 },
  { type: 'path', preferred: 'sfu', supported: true, receiving: false },
];
const deflated = signals.map((signal) => new Uint8Array(deflateRawSync(JSON.stringify(signal))));

const signal: Target = {
  name: 'signal',
  inputs: fc.oneof(
    nearlyJson(signals),
    nearly(deflated),
    nearlyJson(signals).map((bytes) => new Uint8Array(deflateRawSync(bytes))),
  ),
  async check(input) {
    let taken = false;
    for (const payload of [textOf(input), input]) {
      const read = await decodeSignal(payload, compression);
      if (read === undefined) continue;
      taken = true;
      const written = await encodeSignal(read, compression);
      const text = JSON.stringify(read);
      assert.equal(JSON.stringify(await decodeSignal(written, compression)), text);
      assert.ok(text.length <= MAX_INFLATED_BYTES);
    }
    return taken;
  },
};

export const targets: readonly Target[] = [legacy, cmaf, catalog, signal];
