import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { REACTIONS } from '@parley/protocol/people';
import type { CallSnapshot } from '@parley/sdk/call';
import { EMOJI, emojiName, nextCell, withEmoji } from '../src/call/emoji.ts';
import { joinedLate } from '../src/memory/joined-late.ts';

beforeEach(() => {
  const values = new Map<string, string>();
  const storage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => values.set(key, value),
  };
  Object.defineProperty(globalThis, 'sessionStorage', { value: storage, configurable: true });
});

test('[REACT-1] the picker begins with the reactions; each emoji is there once and has a name', () => {
  assert.deepEqual(EMOJI.slice(0, REACTIONS.length), REACTIONS);
  assert.equal(new Set(EMOJI).size, EMOJI.length);
  const names = EMOJI.map(emojiName);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[A-Za-z -]+$/);
});

test('an emoji takes the place of the selected text, and the caret is behind it', () => {
  assert.deepEqual(withEmoji('', '👍', { start: 0, end: 0 }), { text: '👍', caret: 2 });
  assert.deepEqual(withEmoji('ab', '❤️', { start: 1, end: 1 }), { text: 'a❤️b', caret: 3 });
  assert.deepEqual(withEmoji('one two', '✅', { start: 0, end: 3 }), { text: '✅ two', caret: 1 });
});

test('arrow keys move in the grid and stay inside; other keys do nothing', () => {
  const from = (at: number, key: string) => nextCell(key, { at, columns: 6, count: 14 });
  assert.deepEqual(
    ['ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp', 'Home', 'End'].map((key) => from(7, key)),
    [8, 6, 13, 1, 0, 13],
  );
  assert.deepEqual([from(0, 'ArrowLeft'), from(0, 'ArrowUp'), from(13, 'ArrowRight')], [0, 0, 13]);
  assert.equal(from(9, 'ArrowDown'), 9, 'there is no row below');
  assert.equal(from(3, 'Enter'), undefined);
});

test('the notice about earlier messages is for those who were not first, also after a reload', () => {
  const at = (participant: string, people: number, messages = 0): CallSnapshot =>
    ({
      room: 'r',
      me: { participant },
      people: Array.from({ length: people }),
      chat: Array.from({ length: messages }),
    }) as unknown as CallSnapshot;
  assert.equal(joinedLate(at('first', 0)), false);
  assert.equal(joinedLate(at('first', 3)), false, 'others came later');
  assert.equal(joinedLate(at('again', 3, 1)), false, 'the same person as another participant');
  assert.equal(joinedLate(at('second', 1)), true);
  assert.equal(joinedLate(at('second', 0)), true, 'the others left');
});
