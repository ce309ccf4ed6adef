import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupOrder } from '../../src/sfu/group-order.ts';
import { seeded } from '../fakes/random.ts';

const never = (): boolean => false;
const always = (): boolean => true;

function drain(order: GroupOrder<string>, isDue = never): string[] {
  const out: string[] = [];
  for (let next = order.next(isDue); next !== undefined; next = order.next(isDue)) out.push(next.item);
  return out;
}

test('frames leave in encoding order, in whatever order they arrive', () => {
  const random = seeded(3);
  const expected: string[] = [];
  const frames: { group: number; index: number }[] = [];
  for (let group = 5; group < 9; group++)
    for (let index = 0; index < 10; index++) {
      expected.push(`${group}.${index}`);
      frames.push({ group, index });
    }
  const order = new GroupOrder<string>();
  // The first frame has to be pushed first: a participant that joins begins with the newest group.
  const out: string[] = [];
  order.push(5, 0, '5.0', 1);
  out.push(...drain(order));
  for (const { group, index } of frames.slice(1).toSorted(() => random.fraction() - 0.5)) {
    order.push(group, index, `${group}.${index}`, 1);
    out.push(...drain(order));
  }
  for (let group = 5; group < 9; group++) {
    order.ended(group, 10);
    out.push(...drain(order));
  }
  assert.deepEqual(out, expected);
});

test('a frame that arrives twice, through the old and the new relay, leaves once', () => {
  const order = new GroupOrder<string>();
  for (const item of ['a', 'b']) order.push(1, item === 'a' ? 0 : 1, item, 1);
  assert.deepEqual(drain(order), ['a', 'b']);
  for (const [index, item] of ['a', 'b', 'c'].entries()) order.push(1, index, item, 1);
  assert.deepEqual(drain(order), ['c']);
});

test('a group that stalls is skipped when the next one is due, and not before', () => {
  const order = new GroupOrder<string>();
  order.push(1, 0, 'key', 1);
  assert.deepEqual(drain(order), ['key']);
  order.push(1, 2, 'after a gap', 1);
  order.push(2, 0, 'next key', 1);
  assert.deepEqual(drain(order), []);
  assert.deepEqual(drain(order, always), ['next key']);
  order.push(1, 1, 'too late', 1);
  assert.deepEqual(drain(order, always), []);
});

test('it begins with the first frame of the newest group, never within a group', () => {
  const order = new GroupOrder<string>();
  order.push(3, 4, 'within', 1);
  assert.deepEqual(drain(order, always), []);
  order.push(4, 0, 'key', 1);
  order.push(5, 0, 'newer key', 1);
  assert.deepEqual(drain(order), ['newer key']);
});

test('it holds a bounded number of frames', () => {
  const order = new GroupOrder<string>();
  order.push(1, 0, 'key', 1);
  drain(order);
  for (let group = 2; group < 200; group++)
    for (let index = 1; index < 20; index++) order.push(group, index, `${group}.${index}`, 1);
  order.push(200, 0, 'last key', 1);
  assert.deepEqual(drain(order, always), ['last key']);
});

test('it holds a bounded number of groups, also of groups without frames', () => {
  const order = new GroupOrder<string>();
  order.push(0, 0, 'first', 1);
  assert.deepEqual(drain(order), ['first']);
  const began = performance.now();
  for (let group = 1; group < 200_000; group += 1) {
    order.ended(group, 0);
    assert.deepEqual(drain(order), []);
  }
  assert.ok(performance.now() - began < 10_000, 'each costs as little as the first');
  order.push(200_000, 0, 'later', 1);
  assert.deepEqual(drain(order, always), ['later']);
});

test('of the groups that cannot be played yet the newest are kept', () => {
  const order = new GroupOrder<string>();
  order.push(0, 0, 'first', 1);
  drain(order);
  for (let group = 1; group <= 200; group += 1) order.push(group, 0, `${group}`, 1);
  const kept = drain(order, always);
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [64, '137', '200']);
});

test('frames older than all held groups are dropped, however many arrive', () => {
  const order = new GroupOrder<string>();
  order.push(0, 0, 'first', 1);
  drain(order);
  for (let group = 1000; group < 1064; group += 1) order.ended(group, 1);
  for (let index = 0; index < 1000; index += 1) order.push(1, index, 'old', 1);
  order.push(1000, 0, 'new', 1);
  assert.deepEqual(drain(order, always), ['new']);
});

test('it holds a bounded number of bytes', () => {
  const order = new GroupOrder<string>();
  const [most, each] = [32 * 1024 * 1024, 5_000_000];
  order.push(0, 0, 'first', each);
  drain(order);
  for (let turn = 0; turn < 2; turn += 1) {
    for (let group = 1; group <= 20; group += 1)
      order.push(20 * turn + group, 0, `${20 * turn + group}`, each);
    assert.equal(drain(order, always).length, Math.floor(most / each), 'what came out is not counted');
  }
  order.push(100, 0, 'too large', most + 1);
  assert.deepEqual(drain(order, always), []);
});

test('a group whose end is known before its frames are decrypted is left as soon as they are read', () => {
  const order = new GroupOrder<string>();
  order.push(1, 0, 'key', 1);
  assert.deepEqual(drain(order), ['key']);
  order.ended(1, 1);
  order.ended(2, 1);
  order.push(2, 0, 'mark', 1);
  order.push(3, 0, 'word', 1);
  assert.deepEqual(drain(order), ['mark', 'word']);
});
