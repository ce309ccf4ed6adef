import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Queue } from '../../src/core/queue.ts';

test('a queue returns what it was given, in order, however pushes and removals alternate', () => {
  const queue = new Queue<number>();
  let [pushed, removed] = [0, 0];
  for (let round = 0; round < 200; round += 1) {
    for (let more = 0; more < round % 7; more += 1) queue.push(pushed++);
    for (let less = 0; less < round % 5; less += 1) {
      assert.equal(queue.first(), removed < pushed ? removed : undefined);
      queue.shift();
      removed = Math.min(pushed, removed + 1);
    }
  }
  assert.ok(pushed > 500 && removed > 300);
  for (; removed < pushed; removed += 1, queue.shift()) assert.equal(queue.first(), removed);
  assert.equal(queue.first(), undefined);
});
