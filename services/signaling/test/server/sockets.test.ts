/** When the sockets of a pod are checked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from '../../src/server/connection.ts';
import { Sockets } from '../../src/server/sockets.ts';

const INTERVAL_MS = 1000;
const STEP_MS = 10;

test('[LIM-6] each socket is pinged once in an interval, and the pings of all are spread over it', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const sockets = new Sockets(INTERVAL_MS);
  t.after(() => sockets.close());
  const pings = new Map<number, number>();
  for (let id = 1; id <= 1000; id += 1) {
    const checkAlive = (): void => void pings.set(id, (pings.get(id) ?? 0) + 1);
    sockets.add({ id, address: '192.0.2.1', checkAlive, end: () => {} } as unknown as Connection);
  }
  let before = 0;
  const atOnce: number[] = [];
  for (let ms = 0; ms < INTERVAL_MS; ms += STEP_MS) {
    t.mock.timers.tick(STEP_MS);
    const sent = [...pings.values()].reduce((sum, count) => sum + count, 0);
    atOnce.push(sent - before);
    before = sent;
  }
  assert.equal(pings.size, 1000);
  assert.deepEqual(new Set(pings.values()), new Set([1]));
  assert.ok(Math.max(...atOnce) <= 100, `${Math.max(...atOnce)} at once`);
});
