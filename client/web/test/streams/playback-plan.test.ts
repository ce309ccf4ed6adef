import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planFor, type Plan } from '../../src/streams/playback-plan.ts';
import type { AudioCodec, VideoCodec } from '../../src/streams/transport/codecs.ts';

const track = { pid: 0x100, type: 0, descriptors: new Uint8Array() };
/** The types that Chromium plays. */
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

const pids = (made: Plan): readonly number[] => (!made.playable ? [] : made.tracks.map(({ pid }) => pid));

test('H.264 with AAC is played with video and audio', () => {
  const made = plan('h264', 'aac');
  assert.ok(made.playable && made.picture && made.sound && made.note === null);
  assert.deepEqual(pids(made), [0x100, 0x101]);
});

test('audio that cannot be played is left out, and the page says so', () => {
  for (const [video, audio, advice] of [
    ['h264', 'mp2', /MP2.*-c:a aac/],
    ['h264', 'ac3', /AC-3.*-c:a aac/],
  ] as const) {
    const made = plan(video, audio);
    assert.ok(made.playable && !made.sound && made.picture);
    assert.deepEqual(pids(made), [0x100]);
    assert.match(made.note ?? '', advice);
  }
});

test('video that cannot be played is named, with the codec to send instead', () => {
  for (const [video, name] of [
    ['hevc', /H\.265/],
    ['mpeg-video', /MPEG-1 or MPEG-2/],
    ['mpeg4', /MPEG-4/],
    ['vvc', /H\.266/],
  ] as const) {
    const made = plan(video, 'aac');
    assert.ok(!made.playable);
    assert.match(made.reason, name);
    assert.match(made.reason, /Send H\.264.*-c:v libx264/);
  }
});

test('audio alone is played; an empty program is reported as empty', () => {
  const sound = plan(null, 'aac');
  assert.ok(sound.playable && !sound.picture && sound.sound);
  assert.match(JSON.stringify(plan(null, 'mp2')), /audio codec is MP2/);
  assert.match(JSON.stringify(plan(null, null)), /no video and no audio/);
});
