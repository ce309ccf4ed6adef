import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLimits } from '@parley/protocol/limits';
import { AddressBuckets } from '../../src/core/buckets.ts';
import { iceRequests, waitForIce } from '../../src/server/ice-requests.ts';

const limits = defaultLimits({ 'socket.iceRequests': 2 });

test('[TURN-11] a request that is refused takes nothing, of the socket nor of its network', () => {
  let now = 0;
  // One a second, two at once.
  const networks = new AddressBuckets(1, 2, 0);
  const host = { limits, now: () => now, takeIceRequest: (address: string) => networks.take(address, now) };
  const socket = iceRequests(host);
  assert.deepEqual([networks.take('x', 0), networks.take('x', 0)], [undefined, undefined]);
  for (let count = 0; count < 5; count += 1)
    assert.equal(waitForIce(host, socket, 'x'), 1000, 'the network has none left');

  now = 2000;
  assert.deepEqual([waitForIce(host, socket, 'x'), waitForIce(host, socket, 'x')], [undefined, undefined]);

  now = 4000;
  for (let count = 0; count < 5; count += 1)
    assert.equal(waitForIce(host, socket, 'x'), 28_000, 'the socket has none left');
  assert.deepEqual([networks.take('x', now), networks.take('x', now)], [undefined, undefined]);
});
