/** What a socket's answers to pings cost, without a network. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { defaultLimits } from '@parley/protocol/limits';
import { budgetsOf } from '../../src/server/budgets.ts';
import type { Metrics } from '../../src/server/metrics.ts';
import { Wire } from '../../src/server/wire.ts';

test('[LIM-11] the answers to pings of a client that does not read are counted at once, and no longer than they wait', async () => {
  const limits = defaultLimits();
  const budgets = budgetsOf(limits);
  const stream = new PassThrough();
  const socket = Object.assign(new EventEmitter(), { readyState: WebSocket.OPEN, bufferedAmount: 0 });
  const host = { limits, budgets, metrics: {} as Metrics, now: () => 0 };
  const ignore = (): void => {};
  // The parts of a WebSocket that a ping uses.
  const accepted = { socket: socket as unknown as WebSocket, stream, address: '192.0.2.1' };
  const wire = new Wire(host, accepted, { onMessage: ignore, onEnding: ignore, onClosed: ignore });
  socket.bufferedAmount = 50_000;
  socket.emit('ping');
  assert.equal(budgets.buffered.bytes, 50_000);
  socket.bufferedAmount = 0;
  stream.resume();
  await turn();
  assert.equal(budgets.buffered.bytes, 0);
  assert.equal(wire.isClosing, false);
});
