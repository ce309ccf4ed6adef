import assert from 'node:assert/strict';
import { test } from 'node:test';
import { participantId, parseRoomId } from '@parley/protocol/ids';
import { Departures } from '../../src/core/departures.ts';
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

test('[RES-10] departures that are forgotten again do not disturb the order of those that are kept', () => {
  const departures = new Departures({ ttlMs: 60_000, max: 2 });
  const room = parseRoomId('k7m3-q9xd-w2hn-5tzp')?.room;
  assert.ok(room !== undefined);
  const people = Array.from({ length: 20 }, (_, at) => participantId(new Uint8Array(16).fill(at)));
  const note = (at: number): void => {
    const participant = people[at];
    assert.ok(participant !== undefined);
    departures.note(room, { participant, generation: 1, reason: 'lost' }, at);
  };
  const kept = (): number[] =>
    people.flatMap((person, at) => (departures.of(person, 1, 30) === undefined ? [] : [at]));
  note(0);
  for (let at = 1; at < 18; at += 1) {
    note(at);
    departures.seen(people[at] ?? participantId(new Uint8Array(16)));
  }
  assert.deepEqual(kept(), [0]);
  note(18);
  assert.deepEqual(kept(), [0, 18]);
  note(19);
  assert.deepEqual(kept(), [18, 19]);
});
