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
