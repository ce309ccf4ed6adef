import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnKeys } from '../../../src/sfu/e2ee/own-keys.ts';
import { Pace } from '../../../src/net/pace.ts';
import { KEY_PACE } from '../../../src/sfu/e2ee/key-exchange.ts';
import { fakeClock } from '../../fakes/clock.ts';

test('[MEDIA-28] a key that two have left before it was used is never used, also where the page was blocked for seconds', async () => {
  const clock = fakeClock();
  let blockedMs = 0;
  const made: number[] = [];
  const own = new OwnKeys({
    subtle: globalThis.crypto.subtle,
    // Timers of a page that was blocked are late, and its time is not.
    clock: { ...clock, now: () => clock.now() + blockedMs },
    random: { fraction: () => 0, bytes: (count) => new Uint8Array(count).fill(made.length) },
    room: 'a-room',
    broadcast: 'ada/1',
    onNew: () => made.push(own.next?.number ?? Number.NaN),
    isGiven: () => true,
  });
  own.rotate();
  blockedMs = 2500;
  await clock.advance(500);
  own.rotate();
  assert.deepEqual(made, [1, 2]);
  assert.deepEqual(
    own.all.map(({ number }) => number),
    [0, 2],
  );
  await clock.advance(500);
  assert.deepEqual(
    own.all.map(({ number }) => number),
    [0, 2],
    'the time of the first one',
  );
  await clock.advance(500);
  assert.deepEqual(
    own.all.map(({ number }) => number),
    [2],
  );
  assert.equal(own.isChanging, false);
  await clock.advance(5000);
  assert.deepEqual(
    own.all.map(({ number }) => number),
    [2],
  );
  own.rotate();
  own.close();
  assert.equal(clock.pending, 0);
});

test('[MEDIA-27] messages about keys take at most 150 at once and 25 a second of what a socket may send', async () => {
  const clock = fakeClock();
  const pace = new Pace(clock, KEY_PACE);
  const spend = (): number => {
    let count = 0;
    for (; pace.allows(); count += 1) pace.take();
    return count;
  };
  assert.equal(spend(), 150);
  await clock.advance(2000);
  assert.equal(spend(), 50);
  await clock.advance(60_000);
  assert.equal(spend(), 150);
});
