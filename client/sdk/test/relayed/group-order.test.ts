import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupOrder } from '../../src/relayed/group-order.ts';
import { seeded } from '../fakes/random.ts';

const never = (): boolean => false;
const always = (): boolean => true;

function drain(order: GroupOrder<string>, isDue = never): string[] {
  const out: string[] = [];
  for (let next = order.next(isDue); next !== undefined; next = order.next(isDue)) out.push(next.item);
  return out;
}

test('frames come out in the order in which they were encoded, whichever order they come in', () => {
  const random = seeded(3);
  const expected: string[] = [];
  const frames: { group: number; index: number }[] = [];
  for (let group = 5; group < 9; group++)
    for (let index = 0; index < 10; index++) {
      expected.push(`${group}.${index}`);
      frames.push({ group, index });
    }
  const order = new GroupOrder<string>();
  // The first has to be first: whoever joins begins with what is newest.
  const out: string[] = [];
  order.push(5, 0, '5.0');
  out.push(...drain(order));
  for (const { group, index } of frames.slice(1).toSorted(() => random.fraction() - 0.5)) {
    order.push(group, index, `${group}.${index}`);
    out.push(...drain(order));
  }
  for (let group = 5; group < 9; group++) {
    order.ended(group, 10);
    out.push(...drain(order));
  }
  assert.deepEqual(out, expected);
});

test('what comes twice, over the old relay and the new one, comes out once', () => {
  const order = new GroupOrder<string>();
  for (const item of ['a', 'b']) order.push(1, item === 'a' ? 0 : 1, item);
  assert.deepEqual(drain(order), ['a', 'b']);
  for (const [index, item] of ['a', 'b', 'c'].entries()) order.push(1, index, item);
  assert.deepEqual(drain(order), ['c']);
});

test('a group that does not come on is left for the next one when that is due, and not before', () => {
  const order = new GroupOrder<string>();
  order.push(1, 0, 'key');
  assert.deepEqual(drain(order), ['key']);
  order.push(1, 2, 'after a gap');
  order.push(2, 0, 'next key');
  assert.deepEqual(drain(order), []);
  assert.deepEqual(drain(order, always), ['next key']);
  order.push(1, 1, 'too late');
  assert.deepEqual(drain(order, always), []);
});

test('it begins with the first frame of the newest group, never within one', () => {
  const order = new GroupOrder<string>();
  order.push(3, 4, 'within');
  assert.deepEqual(drain(order, always), []);
  order.push(4, 0, 'key');
  order.push(5, 0, 'newer key');
  assert.deepEqual(drain(order), ['newer key']);
});

test('it holds a bounded number of frames', () => {
  const order = new GroupOrder<string>();
  order.push(1, 0, 'key');
  drain(order);
  for (let group = 2; group < 200; group++)
    for (let index = 1; index < 20; index++) order.push(group, index, `${group}.${index}`);
  order.push(200, 0, 'last key');
  assert.deepEqual(drain(order, always), ['last key']);
});
