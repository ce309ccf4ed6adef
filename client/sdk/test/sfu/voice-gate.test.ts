import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loudness, SoundGate, VoiceGate, type Gate } from '../../src/sfu/voice-gate.ts';

/** Passes blocks of 10 ms with the given loudness each; returns how many passed. */
function feed(gate: Gate, from: number, levels: readonly number[]): boolean[] {
  return levels.map((level, at) => gate.passes(level, from + at * 10));
}
const of = (count: number, level: number): number[] => Array.from({ length: count }, () => level);

test('silence is not sent at all', () => {
  for (const gate of [new VoiceGate(), new SoundGate()])
    assert.ok(feed(gate, 0, of(1000, 0)).every((passed) => !passed));
});

test('music of a shared screen is sent for as long as it plays, quiet passages too, and nothing after it', () => {
  const gate = new SoundGate();
  assert.ok(feed(gate, 0, [...of(30_000, 0.05), ...of(3000, 0.001)]).every(Boolean));
  const after = feed(gate, 330_000, of(200, 0.00002));
  assert.ok(after.filter(Boolean).length * 10 <= 800);
  assert.equal(after.at(-1), false);
});

test('a word is sent from its first block on, together with the pause between two words', () => {
  const gate = new VoiceGate();
  feed(gate, 0, of(100, 0.001));
  const word = feed(gate, 1000, [...of(20, 0.05), ...of(40, 0.001), ...of(20, 0.05)]);
  assert.ok(word.every(Boolean));
  const after = feed(gate, 1800, of(200, 0.001));
  const sent = after.filter(Boolean).length * 10;
  assert.ok(sent >= 400 && sent <= 800, `${sent} ms of silence`);
  assert.equal(after.at(-1), false);
});

test('the gate learns the noise of a fan, and passes a voice above it', () => {
  const gate = new VoiceGate();
  feed(gate, 0, of(100, 0.001));
  const fan = feed(gate, 1000, of(9000, 0.01));
  assert.equal(fan.at(-1), false, 'after a minute and a half it is noise');
  assert.ok(feed(gate, 91_000, of(10, 0.08)).every(Boolean));
});

test('loudness is the root mean square', () => {
  assert.equal(loudness(new Float32Array([0.5, -0.5, 0.5, -0.5])), 0.5);
  assert.equal(loudness(new Float32Array()), 0);
});
