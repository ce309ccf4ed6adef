import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Bitmap } from '../../src/pages/bitmap.ts';
import { MAX_CONCURRENT_REQUESTS, STALL_MS, Swarm } from '../../src/pages/swarm.ts';
import { seeded } from '../fakes/random.ts';
import { simulate } from './swarm-simulation.ts';

function swarm(chunks: number, peers: Readonly<Record<string, readonly number[] | 'all'>>, seed = 1) {
  const here = new Bitmap(chunks);
  const made = new Swarm(here, seeded(seed));
  for (const [peer, has] of Object.entries(peers)) {
    made.join(peer, 0);
    for (let chunk = 0; chunk < chunks; chunk += 1)
      if (has === 'all' || has.includes(chunk)) made.got(peer, chunk);
  }
  const give = (peer: string, chunk: number, now = 0): string => {
    const how = made.arrived(peer, chunk, now);
    if (how === 'wanted') {
      made.checked(chunk);
      here.add(chunk);
    }
    return how;
  };
  return { here, swarm: made, give };
}

describe('which chunk is requested from which visitor', () => {
  test('[PAGE-17] the chunk that the fewest visitors have comes first', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const { swarm: one } = swarm(10, { a: 'all', b: [0, 1, 2, 3, 4, 5, 6, 7] }, seed);
      const ofA = one.requests(0).filter(({ peer }) => peer === 'a');
      assert.deepEqual(new Set(ofA.map(({ chunk }) => chunk)), new Set([8, 9]));
    }
  });

  test('[PAGE-17] among equals at random', () => {
    const firsts = new Set<number>();
    for (let seed = 1; seed <= 40; seed += 1) {
      const [first] = swarm(8, { a: 'all' }, seed).swarm.requests(0);
      firsts.add(first?.chunk ?? -1);
    }
    assert.ok(firsts.size >= 6, `only ${[...firsts].join()}`);
  });

  test('[PAGE-16] no visitor is asked twice for the same chunk at a time, nor for a chunk that it does not have', () => {
    const { swarm: one } = swarm(6, { a: 'all', b: [0, 1], c: [1] });
    const requests = one.requests(0);
    assert.equal(new Set(requests.map(({ chunk }) => chunk)).size, requests.length);
    for (const { peer, chunk } of requests) {
      if (peer === 'b') assert.ok(chunk < 2);
      if (peer === 'c') assert.equal(chunk, 1);
    }
    assert.deepEqual(one.requests(1), []);
  });

  test('[PAGE-16] at most 8 requests at a time to one holder, fewer to a new one', () => {
    const { swarm: one, give } = swarm(200, { a: 'all' });
    const open = new Set(one.requests(0).map(({ chunk }) => chunk));
    assert.equal(open.size, 2);
    for (let turn = 0; turn < 100; turn += 1) {
      const [chunk] = open;
      assert.equal(give('a', chunk ?? -1, turn), 'wanted');
      open.delete(chunk ?? -1);
      for (const ask of one.requests(turn)) open.add(ask.chunk);
      assert.ok(open.size <= MAX_CONCURRENT_REQUESTS);
    }
    assert.equal(open.size, MAX_CONCURRENT_REQUESTS);
  });

  test('a chunk that was not requested, and one that arrives twice, are distinguished', () => {
    const { swarm: one, give } = swarm(4, { a: 'all', b: 'all' });
    assert.equal(give('unknown', 0), 'unasked');
    const [first] = one.requests(0);
    assert.ok(first !== undefined);
    assert.equal(give(first.peer === 'a' ? 'b' : 'a', first.chunk), 'unasked');
    assert.equal(give(first.peer, first.chunk), 'wanted');
    assert.equal(give(first.peer, first.chunk), 'unasked');
    assert.equal(give(first.peer, 99), 'unasked');
  });

  test('a wrong chunk is requested again', () => {
    const { swarm: one } = swarm(1, { a: 'all', b: 'all' });
    const [first] = one.requests(0);
    assert.ok(first !== undefined);
    assert.equal(one.arrived(first.peer, 0, 0), 'wanted');
    assert.deepEqual(one.requests(0), [], 'while it is checked');
    one.checked(0);
    one.leave(first.peer);
    assert.deepEqual(one.requests(0), [{ peer: first.peer === 'a' ? 'b' : 'a', chunk: 0 }]);
  });
});

describe('a visitor that does not answer requests', () => {
  test('[PAGE-16] a request without an answer for 5 s goes to another visitor', () => {
    const { swarm: one } = swarm(40, { a: 'all' });
    const lying = new Set(one.requests(0).map(({ chunk }) => chunk));
    one.join('b', STALL_MS);
    for (const chunk of lying) one.got('b', chunk);
    assert.deepEqual(one.expireRequests(STALL_MS - 1), []);
    assert.deepEqual(
      one.requests(STALL_MS - 1).filter(({ peer }) => peer === 'b'),
      [],
    );
    one.expireRequests(STALL_MS);
    const ofB = one.requests(STALL_MS).filter(({ peer }) => peer === 'b');
    assert.deepEqual(new Set(ofB.map(({ chunk }) => chunk)), lying);
  });

  test('[PAGE-16] three unanswered requests in a row, and it is to be left', () => {
    const { swarm: one } = swarm(40, { a: 'all' });
    one.requests(0);
    assert.deepEqual(one.expireRequests(STALL_MS), []);
    one.requests(STALL_MS);
    assert.deepEqual(one.expireRequests(2 * STALL_MS), []);
    one.requests(2 * STALL_MS);
    assert.deepEqual(one.expireRequests(3 * STALL_MS), ['a']);
  });

  test('a visitor that is only slow is not left', () => {
    const { swarm: one, give } = swarm(40, { a: 'all' });
    let requests = one.requests(0);
    for (let now = 4000; now < 80_000; now += 4000) {
      const [next] = requests;
      assert.ok(next !== undefined, 'nothing is requested of it any more');
      assert.notEqual(give('a', next.chunk, now), 'unasked');
      assert.deepEqual(one.expireRequests(now), []);
      requests = [...requests.slice(1), ...one.requests(now)];
    }
  });

  test('a late chunk is accepted', () => {
    const { swarm: one, give } = swarm(1, { a: 'all' });
    one.requests(0);
    one.expireRequests(STALL_MS);
    assert.equal(give('a', 0, STALL_MS + 1), 'wanted');
  });

  test('a chunk that was requested repeatedly from one visitor may arrive as often', () => {
    const { swarm: one, give } = swarm(1, { a: 'all' });
    for (let now = 0; now < 3 * STALL_MS; now += STALL_MS) {
      one.expireRequests(now);
      one.requests(now);
    }
    const came = [1, 2, 3, 4].map((ms) => give('a', 0, 3 * STALL_MS - 100 + ms));
    assert.deepEqual(came, ['wanted', 'twice', 'twice', 'unasked']);
  });

  test('if all visitors were asked without success, they are asked again', () => {
    const { swarm: one } = swarm(1, { a: 'all', b: 'all' });
    for (let now = 0; now < 4 * STALL_MS; now += STALL_MS) {
      one.expireRequests(now);
      assert.ok(one.requests(now).length > 0, `no visitor is asked at ${now}`);
    }
  });

  test('[PAGE-16] three `reject` in a row, and it is to be left', () => {
    const { swarm: one } = swarm(40, { a: 'all' });
    const results: boolean[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const chunk = one.requests(0)[0]?.chunk ?? -1;
      results.push(one.refused('a', chunk));
    }
    assert.deepEqual(results, [true, true, false]);
  });

  test('after the device slept, no request counts as unanswered', () => {
    const { swarm: one } = swarm(40, { a: 'all' });
    one.requests(0);
    one.forgive(60_000);
    assert.deepEqual(one.expireRequests(60_000), []);
    assert.deepEqual(one.requests(60_000), []);
  });

  test('[PAGE-17] of the last chunks, a late one is requested from a second visitor, and from no third', () => {
    const { swarm: one, give } = swarm(1, { a: 'all', b: 'all', c: 'all' });
    const [first] = one.requests(0);
    assert.deepEqual(one.requests(100), []);
    const [second, third] = one.requests(600);
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(third, undefined);
    assert.notEqual(second.peer, first.peer);
    assert.deepEqual(one.requests(1200), []);
    assert.equal(give(second.peer, 0, 1300), 'wanted');
    assert.equal(give(first.peer, 0, 1400), 'twice');
  });

  test('[PAGE-17] while many chunks are missing, none is requested from two visitors', () => {
    const { swarm: one } = swarm(100, { a: 'all', b: 'all' });
    const first = one.requests(0);
    const later = one.requests(4000);
    assert.equal(new Set([...first, ...later].map(({ chunk }) => chunk)).size, first.length + later.length);
  });
});

describe('a swarm of 20 readers that arrive together', () => {
  for (const uplink of [250, 1250, 12_500]) {
    for (const seed of [1, 2, 3]) {
      test(`[PAGE-17] 16 MiB, ${uplink} bytes a ms, seed ${seed}: about two copies, not twenty`, () => {
        const chunkBytes = 65_536;
        const { ms, copies } = simulate({ readers: 20, chunks: 256, chunkBytes, uplink, seed });
        assert.ok(copies < 2.5, `the first holder gave ${copies} copies`);
        const oneCopyMs = (256 * chunkBytes) / uplink;
        assert.ok(ms < 3 * oneCopyMs + 1000, `${ms} ms, where one copy takes ${oneCopyMs}`);
      });
    }
  }
});
