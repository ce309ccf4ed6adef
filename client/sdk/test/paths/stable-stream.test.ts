import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StableStream } from '../../src/paths/stable-stream.ts';

/**
 * What a `<video>` with this stream shows: in Chromium the first track; in Firefox the first track that it found, until that is removed, and then
 * the next one that is added.
 */
function played() {
  const held: MediaStreamTrack[] = [];
  const seen = { firefox: null as MediaStreamTrack | null, ended: 0 };
  const stream = {
    getTracks: () => [...held],
    addTrack: (track: MediaStreamTrack) => {
      held.push(track);
      if (track.kind === 'video') seen.firefox ??= track;
    },
    removeTrack: (track: MediaStreamTrack) => {
      held.splice(held.indexOf(track), 1);
      if (seen.firefox === track) seen.firefox = null;
      if (held.length === 0) seen.ended += 1;
    },
    dispatchEvent: () => true,
  } as unknown as MediaStream;
  return { stream, seen, chromium: () => held.find(({ kind }) => kind === 'video') ?? null };
}

const track = (kind: 'audio' | 'video'): MediaStreamTrack => ({ kind }) as MediaStreamTrack;

describe('a stream that stays the same while its tracks change', () => {
  test('shows the new picture in every browser, and does not end if it has audio', () => {
    const { stream, seen, chromium } = played();
    const stable = new StableStream(() => stream);
    const [mesh, relayed] = [
      [track('audio'), track('video')],
      [track('audio'), track('video')],
    ];
    assert.equal(stable.of(mesh), stream);
    assert.equal(seen.firefox, mesh[1]);
    assert.equal(stable.of(relayed), stream);
    assert.deepEqual(new Set(stream.getTracks()), new Set(relayed));
    assert.equal(seen.firefox, relayed[1]);
    assert.equal(chromium(), relayed[1]);
    assert.equal(seen.ended, 0);
  });

  test('stays unchanged while the media is unknown, and is null before the first media', () => {
    const { stream } = played();
    const stable = new StableStream(() => stream);
    assert.equal(stable.of(null), null);
    assert.equal(stable.of([]), null);
    const voice = track('audio');
    stable.of([voice]);
    stable.of(null);
    assert.deepEqual(stream.getTracks(), [voice]);
  });
});
