import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planFor, type Plan } from '../../src/streams/plan.ts';
import type { AudioCodec, VideoCodec } from '../../src/streams/transport/codecs.ts';

const track = { pid: 0x100, type: 0, descriptors: new Uint8Array() };
/** What Chromium plays. */
const CHROMIUM = /avc1|mp4a\.40|opus|audio\/mpeg|av01/;

function plan(video: VideoCodec | null, audio: AudioCodec | null): Plan {
  return planFor(
    {
      video: video && { codec: video, track },
      audio: audio && { codec: audio, track: { ...track, pid: 0x101 } },
      clockPid: 0x100,
    },
    (type) => CHROMIUM.test(type),
  );
}

const pids = (made: Plan): readonly number[] =>
  made.player === 'none' ? [] : made.tracks.map(({ pid }) => pid);

test('H.264 with AAC goes to the browser, MPEG-1 with MP2 to JSMpeg', () => {
  assert.deepEqual(
    [plan('h264', 'aac'), plan('mpeg1', 'mp2')].map((made) => [made.player, pids(made)]),
    [
      ['mse', [0x100, 0x101]],
      ['mpeg1', [0x100, 0x101]],
    ],
  );
});

test('sound that does not play is left out, and said so', () => {
  for (const [video, audio, advice] of [
    ['h264', 'mp2', /MP2.*-c:a aac/],
    ['h264', 'ac3', /AC-3.*-c:a aac/],
    ['mpeg1', 'aac', /AAC.*-c:a mp2/],
  ] as const) {
    const made = plan(video, audio);
    assert.ok(made.player !== 'none' && !made.sound && made.picture);
    assert.deepEqual(pids(made), [0x100]);
    assert.match(made.note ?? '', advice);
  }
});

test('a picture that does not play is named, with what to send instead', () => {
  for (const [video, name] of [
    ['hevc', /H\.265/],
    ['mpeg2', /MPEG-2/],
    ['mpeg4', /MPEG-4/],
    ['vvc', /H\.266/],
  ] as const) {
    const made = plan(video, 'aac');
    assert.ok(made.player === 'none');
    assert.match(made.why, name);
    assert.match(made.why, /-c:v libx264/);
  }
});

test('sound alone is played; nothing at all is said to be nothing', () => {
  const sound = plan(null, 'aac');
  assert.ok(sound.player === 'mse' && !sound.picture && sound.sound);
  assert.match(JSON.stringify(plan(null, 'mp2')), /sound in MP2/);
  assert.match(JSON.stringify(plan(null, null)), /no picture and no sound/);
});
