import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MutedSpeech } from '../src/call/muted-speech.ts';

/** The answers to loudness that is measured ten times a second. */
function answers(levels: readonly number[], speech = new MutedSpeech(), fromMs = 10_000): readonly boolean[] {
  return levels.map((level, at) => speech.hear(level, fromMs + at * 100));
}

test('a word while muted is detected after its third loud sample', () => {
  assert.deepEqual(answers([0, 0.4, 0.5, 0.1, 0.4]), [false, false, false, false, true]);
});

test('breath, and single noises that are far apart, are no speech', () => {
  assert.ok(!answers(Array.from({ length: 50 }, () => 0.2)).includes(true));
  assert.ok(!answers(Array.from({ length: 50 }, (_, at) => (at % 6 === 0 ? 0.9 : 0))).includes(true));
});

test('the user is told until four seconds after the last word', () => {
  const speech = new MutedSpeech();
  answers([0.5, 0.5, 0.5], speech, 0);
  assert.equal(speech.hear(0, 4100), true);
  assert.equal(speech.hear(0, 4200), false);
});
