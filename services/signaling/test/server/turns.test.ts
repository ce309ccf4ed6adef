import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLimits } from '@parley/protocol/limits';
import { budgetsOf } from '../../src/server/budgets.ts';
import type { Connection } from '../../src/server/connection.ts';
import { Turns } from '../../src/server/turns.ts';
import { NO_MEDIA } from '../support/client.ts';

test('[RES-13] a socket that ends while it is informed of the wait is not kept', async (context) => {
  const limits = defaultLimits({ 'pod.resumes': 1 });
  const budgets = budgetsOf(limits);
  const turns = new Turns({ limits, budgets, now: () => 0 });
  context.after(() => turns.close());
  assert.ok(turns.queue.pace.take(0));
  const socket = { id: 1, address: '203.0.113.1', send: () => turns.remove(1) } as unknown as Connection;
  const enter = { type: 'enter', ticket: 't', generation: 1, name: 'Ada', media: NO_MEDIA } as const;
  assert.equal(await turns.wait(socket, enter), false);
  assert.deepEqual([turns.queue.size, budgets.incomplete.bytes, turns.stop()], [0, 0, []]);
});

test('[LIM-20] messages of calls are handled between the arrivals that are served, also where the loop was late', async (context) => {
  const limits = defaultLimits();
  let now = 0;
  const turns = new Turns({ limits, budgets: budgetsOf(limits), now: () => now });
  context.after(() => turns.close());
  const enter = { type: 'enter', ticket: 't', generation: 1, name: 'Ada', media: NO_MEDIA } as const;
  const send = (): void => assert.fail('its turn comes with the next tick');
  // The loop is blocked: no tick comes, whatever time passes.
  now = 60;
  let served = 0;
  const most = 100;
  const all = Array.from({ length: most }, async (_, id) => {
    const socket = { id, address: '203.0.113.1', send } as unknown as Connection;
    assert.equal(await turns.wait(socket, enter), true);
    served += 1;
  });
  assert.equal(turns.queue.size, most);
  const inOneTurn: number[] = [];
  for (let before = 0; before < most; before = served) {
    await new Promise((resolve) => setImmediate(resolve));
    inOneTurn.push(served - before);
  }
  await Promise.all(all);
  assert.ok(Math.max(...inOneTurn) <= 2 * 16, String(inOneTurn));
});
