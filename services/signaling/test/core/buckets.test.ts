/** Token buckets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AddressBuckets, Bucket, MAX_ADDRESSES } from '../../src/core/buckets.ts';

test('[LIM-3] a bucket admits its burst at once, then its rate', () => {
  const bucket = new Bucket(10, 3, 0);
  assert.deepEqual(
    [0, 0, 0, 0].map((now) => bucket.take(1, now)),
    [true, true, true, false],
  );
  assert.equal(bucket.waitMs(1), 100);
  assert.equal(bucket.take(1, 99), false);
  assert.equal(bucket.take(1, 200), true);
});

test('[LIM-3] over an hour a bucket admits no more than burst and rate together', () => {
  const bucket = new Bucket(5, 20, 0);
  let taken = 0;
  for (let now = 0; now <= 3_600_000; now += 37) if (bucket.take(1, now)) taken += 1;
  assert.ok(taken <= 20 + 5 * 3600 && taken >= 5 * 3600, `${taken}`);
});

test('[LIM-3] an amount larger than the burst is never admitted, and takes nothing', () => {
  const bucket = new Bucket(10, 3, 0);
  assert.equal(bucket.take(4, 1_000_000), false);
  assert.equal(bucket.take(3, 1_000_000), true);
});

test('[LIM-7] each address has its own bucket, and gets the time to wait', () => {
  const buckets = new AddressBuckets(1, 2, 0);
  assert.deepEqual([buckets.take('x', 0), buckets.take('x', 0)], [undefined, undefined]);
  assert.equal(buckets.take('x', 0), 1000);
  assert.equal(buckets.take('y', 0), undefined);
  assert.equal(buckets.take('x', 1000), undefined);
});

test('[LIM-7] an address that sends nothing for a while has a full bucket again', () => {
  const buckets = new AddressBuckets(1, 2, 0);
  buckets.take('x', 0);
  buckets.take('y', 60_000);
  buckets.take('y', 120_000);
  assert.deepEqual([buckets.take('x', 120_000), buckets.take('x', 120_000)], [undefined, undefined]);
  assert.equal(buckets.take('x', 120_000), 1000);
});

describe('[LIM-7] many addresses', () => {
  const address = (of: string, index: number): string => `${of}-${index}`;

  test('the limit of remembered addresses holds, and each new one is added', () => {
    const buckets = new AddressBuckets(1 / 60, 1, 0);
    for (let index = 0; index < 10 * MAX_ADDRESSES; index += 1) {
      assert.equal(buckets.take(address('many', index), 0), undefined);
      assert.ok(buckets.size <= MAX_ADDRESSES);
    }
  });

  test('an address that continues to ask is not forgotten, however many others ask', () => {
    const buckets = new AddressBuckets(1 / 3600, 1, 0);
    assert.equal(buckets.take('x', 0), undefined);
    for (let index = 0; index < 5 * MAX_ADDRESSES; index += 1) {
      buckets.take(address('many', index), 0);
      if (index % 1000 === 0) assert.notEqual(buckets.take('x', 0), undefined);
    }
  });

  test('an address with an empty bucket is remembered while fewer than half of the limit ask', () => {
    const buckets = new AddressBuckets(1 / 3600, 1, 0);
    assert.equal(buckets.take('x', 0), undefined);
    for (let index = 0; index < MAX_ADDRESSES / 2; index += 1) buckets.take(address('many', index), 0);
    assert.notEqual(buckets.take('x', 0), undefined);
  });

  test('an address with a full bucket is forgotten', () => {
    const buckets = new AddressBuckets(1, 2, 0);
    for (let index = 0; index < 1000; index += 1) buckets.take(address('many', index), 0);
    for (const now of [2000, 4000]) assert.equal(buckets.take('x', now), undefined);
    assert.equal(buckets.size, 1);
  });

  test('no single request does the cleanup of many', () => {
    const buckets = new AddressBuckets(1 / 3600, 1, 0);
    let slowest = 0;
    for (let index = 0; index < 20 * MAX_ADDRESSES; index += 1) {
      const since = process.threadCpuUsage();
      buckets.take(address('many', index), index / 5);
      const { user, system } = process.threadCpuUsage(since);
      slowest = Math.max(slowest, user + system);
    }
    assert.ok(slowest < 25_000, `${slowest} us of CPU`);
  });
});
