import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultLimits } from '@parley/protocol/limits';
import { ArrivalQueue } from '../../src/server/arrival-queue.ts';
import { TICK_MS } from '../../src/server/pace.ts';

const slow = defaultLimits({ 'pod.resumes': 10, 'pod.sockets': 40, 'resume.grace': 20_000 });

/** The sockets in the order in which they have their turn, with the time of each. */
function serve(
  queue: ArrivalQueue,
  { ms, lateMs = 0 }: { ms: number; lateMs?: number },
): Map<number, number> {
  const served = new Map<number, number>();
  for (let now = TICK_MS; now <= ms; now += TICK_MS + lateMs) {
    queue.pace.measured(lateMs);
    for (const socket of queue.due(now)) served.set(socket, now);
  }
  return served;
}

/** Takes the turns that are free at once. */
function fill(queue: ArrivalQueue): void {
  let socket = -1;
  while (queue.arrive(socket, 'resume', { now: 0 }) === 'now') socket -= 1;
  queue.remove(socket);
}

describe('[RES-13] arrivals that wait', () => {
  test('[RES-13] [LIM-20] a full pod is back within half of the grace period at the floor, by default, however late the loop is', () => {
    const limits = defaultLimits();
    const queue = new ArrivalQueue(limits, 0);
    for (let late = 0; late < 10; late += 1) queue.pace.measured(1000);
    fill(queue);
    for (let socket = 1; socket <= limits['pod.sockets']; socket += 1) {
      const turn = queue.arrive(socket, 'resume', { now: 0 });
      assert.ok(turn !== 'now' && !turn.full);
    }
    const half = limits['resume.grace'] / 2;
    const served = serve(queue, { ms: half + 250, lateMs: 200 });
    assert.equal(served.size, limits['pod.sockets']);
    assert.equal(queue.size, 0);
  });

  test('[RES-13] a queue holds what it serves within half of the grace period, and refuses the rest with the time to wait (pod.resumes)', () => {
    const queue = new ArrivalQueue(defaultLimits({ 'pod.resumes': 2, 'resume.grace': 10_000 }), 0);
    fill(queue);
    for (let socket = 0; socket < 10; socket += 1) queue.arrive(socket, 'resume', { now: 0 });
    assert.deepEqual(
      [queue.arrive(10, 'resume', { now: 0 }), queue.size],
      [{ full: true, afterMs: 5500 }, 10],
    );
    assert.equal(serve(queue, { ms: 5000 }).size, 10);
  });

  test('[RES-13] as many as the pod has sockets wait, and no more', () => {
    const queue = new ArrivalQueue({ ...slow, 'pod.sockets': 3 }, 0);
    fill(queue);
    const turns = [0, 1, 2, 3].map((socket) => queue.arrive(socket, 'enter', { now: 0 }));
    assert.deepEqual(
      turns.map((turn) => turn !== 'now' && turn.full),
      [false, false, false, true],
    );
  });

  test('[RES-13] enters that wait take no place of a resume', () => {
    const queue = new ArrivalQueue({ ...slow, 'pod.sockets': 3 }, 0);
    fill(queue);
    for (const socket of [1, 2, 3]) queue.arrive(socket, 'enter', { now: 0 });
    const resume = queue.arrive(4, 'resume', { now: 0 });
    assert.ok(resume !== 'now' && !resume.full);
    const enter = queue.arrive(5, 'enter', { now: 0 });
    assert.ok(enter !== 'now' && enter.full);
    assert.deepEqual([...serve(queue, { ms: 1000 }).keys()], [4, 1, 2, 3]);
  });

  test('[LIM-20] while the event loop is late no arrival is served before the next tick', () => {
    const queue = new ArrivalQueue(slow, 0);
    assert.deepEqual(queue.arrive(1, 'resume', { now: 0, isLate: true }), { full: false, afterMs: 0 });
    assert.notEqual(queue.arrive(2, 'resume', { now: 0 }), 'now');
    assert.deepEqual(queue.due(0), [1, 2]);
  });

  test('[LIM-20] serves no more than it is asked for', () => {
    const queue = new ArrivalQueue(slow, 0);
    for (const socket of [1, 2]) queue.arrive(socket, 'resume', { now: 0, isLate: true });
    assert.deepEqual([queue.due(0, 1), queue.due(0, 1), queue.due(0, 1)], [[1], [2], []]);
  });

  test('[RES-13] resumes come before enters, each in the order of arrival', () => {
    const queue = new ArrivalQueue(slow, 0);
    fill(queue);
    for (const socket of [1, 2, 3]) queue.arrive(socket, 'enter', { now: 0 });
    for (const socket of [4, 5, 6]) queue.arrive(socket, 'resume', { now: 0 });
    assert.deepEqual([...serve(queue, { ms: 1000 }).keys()], [4, 5, 6, 1, 2, 3]);
  });

  test('[RES-13] a resume does not wait for enters that wait, an enter does for both', () => {
    const queue = new ArrivalQueue(slow, 0);
    fill(queue);
    queue.arrive(1, 'enter', { now: 0 });
    assert.notEqual(queue.arrive(2, 'enter', { now: 100 }), 'now');
    assert.equal(queue.arrive(3, 'resume', { now: 100 }), 'now');
  });

  test('[RES-13] a socket that ended has no turn', () => {
    const queue = new ArrivalQueue(slow, 0);
    fill(queue);
    for (const socket of [1, 2, 3]) queue.arrive(socket, socket === 2 ? 'resume' : 'enter', { now: 0 });
    queue.remove(2);
    queue.remove(1);
    assert.deepEqual([...serve(queue, { ms: 1000 }).keys()], [3]);
  });

  test('[RES-13] the estimate is the time of the turn', () => {
    const queue = new ArrivalQueue(slow, 0);
    fill(queue);
    const told = new Map<number, number>();
    for (let socket = 1; socket <= 30; socket += 1) {
      const turn = queue.arrive(socket, 'resume', { now: 0 });
      assert.ok(turn !== 'now');
      told.set(socket, turn.afterMs);
    }
    assert.equal(queue.waitMs(0), told.get(30));
    for (const [socket, at] of serve(queue, { ms: 4000 }))
      assert.ok(Math.abs(at - (told.get(socket) ?? 0)) <= TICK_MS, `${socket} at ${at}`);
    assert.equal(queue.waitMs(4000), 0);
  });

  test('[RES-13] a client is informed again once its turn is over two seconds later, and not before', () => {
    const queue = new ArrivalQueue(slow, 0);
    fill(queue);
    queue.arrive(100, 'enter', { now: 0 });
    for (let socket = 0; socket < 19; socket += 1) queue.arrive(socket, 'resume', { now: 0 });
    assert.deepEqual(queue.late(0), []);
    for (let socket = 19; socket < 25; socket += 1) queue.arrive(socket, 'resume', { now: 0 });
    const late = queue.late(0);
    assert.deepEqual(
      late.map(({ socket }) => socket),
      [100],
    );
    assert.ok((late[0]?.afterMs ?? 0) > 2000);
    assert.deepEqual(queue.late(0), []);
  });
});
