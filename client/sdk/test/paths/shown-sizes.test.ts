import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShownSizes } from '../../src/paths/shown-sizes.ts';
import { participant } from '../fakes/messages.ts';

const WHO = Array.from({ length: 20 }, (_, at) => participant(String.fromCharCode('a'.charCodeAt(0) + at)));
const SIZE = { width: 320, height: 180 };

/** Of the participants whose camera is on: who is fetched. */
function fetched(sizes: ShownSizes, on: (at: number) => boolean): number[] {
  const media = (at: number) => ({ media: { audio: true, video: on(at), screen: false } });
  const wanted = sizes.of(WHO, new Map(WHO.map((who, at) => [who, media(at)])));
  assert.deepEqual([...wanted.keys()], WHO, 'the audio of each is');
  return WHO.flatMap((who, at) => (wanted.get(who) === null ? [] : [at]));
}

test('the first sixteen cameras are fetched, of those that are on', () => {
  const sizes = new ShownSizes();
  assert.deepEqual(
    fetched(sizes, () => true),
    [...Array(16).keys()],
  );
  assert.deepEqual(
    fetched(sizes, (at) => at >= 17),
    [17, 18, 19],
  );
});

test('a camera that the application does not show is not fetched, and leaves its place to another one', () => {
  const sizes = new ShownSizes();
  for (const who of WHO.slice(0, 4)) sizes.set(who, null);
  for (const who of WHO.slice(4)) sizes.set(who, SIZE);
  assert.deepEqual(
    fetched(sizes, () => true),
    [...Array(16).keys()].map((at) => at + 4),
  );
});
