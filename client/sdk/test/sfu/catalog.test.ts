import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseAudio, chooseVideo, readCatalog } from '../../src/sfu/catalog.ts';
import { decodeFrame, encodeFrame } from '../../src/sfu/frames.ts';

const container = { kind: 'legacy' };
const low = { codec: 'vp8', container, codedWidth: 320, codedHeight: 180 };
const high = { codec: 'vp8', container, codedWidth: 640, codedHeight: 360 };
const opus = { codec: 'opus', container, sampleRate: 48_000, numberOfChannels: 1 };
const good = {
  video: { renditions: { 'camera/high': high, 'camera/low': low, 'screen/high': high } },
  audio: { renditions: { microphone: opus } },
};

test('the selected rendition is the smallest that fills the tile', () => {
  const catalog = readCatalog(JSON.stringify(good));
  assert.ok(catalog);
  const at = (width: number, height: number) => chooseVideo(catalog, 'camera', { width, height })?.track;
  assert.equal(at(160, 90), 'camera/low');
  assert.equal(at(480, 270), 'camera/low');
  assert.equal(at(800, 450), 'camera/high');
  assert.equal(at(1920, 1080), 'camera/high', 'there is nothing larger');
  assert.equal(chooseAudio(catalog, 'microphone')?.track, 'microphone');
  assert.equal(chooseAudio(catalog, 'screen-audio'), undefined);
});

test('a catalog of hang with further fields is read for the known ones', () => {
  const rich = {
    ...good,
    scte35: {},
    video: { ...good.video, display: { width: 1, height: 1 }, rotation: 0 },
  };
  assert.ok(readCatalog(JSON.stringify(rich)));
  assert.ok(readCatalog('{}'), 'nothing is published now');
});

for (const [what, bad] of Object.entries({
  'no JSON': '{',
  'something else': '[]',
  'a codec that is no text': JSON.stringify({ video: { renditions: { a: { ...low, codec: 7 } } } }),
  'colors that are no names': JSON.stringify({
    video: { renditions: { a: { ...low, colorSpace: { matrix: 1 } } } },
  }),
  'a picture of no size': JSON.stringify({ video: { renditions: { a: { ...low, codedWidth: 0 } } } }),
  'a container that is not known': JSON.stringify({
    video: { renditions: { a: { ...low, container: { kind: 'cmaf' } } } },
  }),
  'too many renditions': JSON.stringify({
    video: { renditions: Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`camera/${at}`, low])) },
  }),
  'a track with a strange name': JSON.stringify({ video: { renditions: { '<b>': low } } }),
  'far too long': JSON.stringify({ ...good, more: 'x'.repeat(20_000) }),
}))
  test(`is treated as no catalog: ${what}`, () => {
    assert.equal(readCatalog(bad), undefined);
  });

test('a frame is its time and its bytes; anything else is dropped', () => {
  const timestamp = 1_795_000_000_000_000;
  const frame = decodeFrame(encodeFrame({ timestamp, payload: new Uint8Array([1, 2, 3]) }));
  assert.equal(frame?.timestamp, timestamp);
  assert.deepEqual([...(frame?.payload ?? [])], [1, 2, 3]);
  assert.equal(
    decodeFrame(encodeFrame({ timestamp, payload: new Uint8Array() }))?.payload.byteLength,
    0,
    'a mark',
  );
  assert.equal(decodeFrame(new Uint8Array()), undefined);
  assert.equal(decodeFrame(new Uint8Array([0xff])), undefined);
});

test('[MEDIA-14] a format that no client publishes is refused, even if the browser could decode it', () => {
  const sounds = (codec: string) => ({ audio: { renditions: { microphone: { ...opus, codec } } } });
  const pictures = (change: object) => ({ video: { renditions: { camera: { ...high, ...change } } } });
  const read = (said: object) => readCatalog(JSON.stringify(said)) ?? {};
  const sound = (codec: string) => chooseAudio(read(sounds(codec)), 'microphone')?.track;
  const picture = (change: object) =>
    chooseVideo(read(pictures(change)), 'camera', { width: 640, height: 360 })?.track;
  for (const codec of ['opus', 'mp4a.40.2']) assert.equal(sound(codec), 'microphone', codec);
  for (const codec of ['pcm-f32', 'ulaw', 'opusx', 'flac', 'mp3'])
    assert.equal(sound(codec), undefined, codec);
  for (const codec of ['vp8', 'vp09.00.10.08', 'avc1.42001f', 'av01.0.04M.08', 'hvc1.1.6.L93.B0'])
    assert.equal(picture({ codec }), 'camera', codec);
  for (const codec of ['vp88', 'vp8.0', 'mjpeg', 'theora'])
    assert.equal(picture({ codec }), undefined, codec);
  assert.equal(picture({ codedWidth: 3840, codedHeight: 2160 }), 'camera');
  assert.equal(picture({ codedWidth: 3841, codedHeight: 2160 }), undefined);
});
