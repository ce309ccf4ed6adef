import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CheckedSocket, type Silence } from '../../src/net/socket.ts';
import type { Ports } from '../../src/ports.ts';
import { fakeClock, type FakeClock } from '../fakes/clock.ts';

type Handlers = Parameters<Ports['openSocket']>[1];

interface Opened {
  readonly clock: FakeClock;
  readonly socket: CheckedSocket;
  readonly sleep: (ms: number) => void;
  readonly pings: () => number;
  readonly isLost: () => boolean;
}

/** An open socket that has received its first message and then nothing. */
function openSocket(silence?: Silence): Opened {
  const clock = fakeClock();
  const now = clock.now.bind(clock);
  let [slept, pings, isLost] = [0, 0, false];
  Object.assign(clock, { now: () => now() + slept });
  const wire: { handlers?: Handlers } = {};
  const ports = {
    clock,
    openSocket: (_url: string, handlers: Handlers) => {
      wire.handlers = handlers;
      return { send: () => void (pings += 1), buffered: () => 0, close: () => undefined };
    },
  };
  const options = { firstMessageTimeoutMs: 10_000, probeTimeoutMs: 5000, silence: () => silence };
  const handlers = { onText: () => undefined, onLost: () => void (isLost = true) };
  const socket = new CheckedSocket('wss://pod.test/socket', ports, options, handlers);
  wire.handlers?.onOpen();
  wire.handlers?.onText('welcome');
  return { clock, socket, sleep: (ms) => void (slept += ms), pings: () => pings, isLost: () => isLost };
}

test('another probe does not extend the wait for the answer to the first', async () => {
  const { clock, socket, pings, isLost } = openSocket();
  socket.probe();
  await clock.advance(4000);
  socket.probe();
  assert.equal(pings(), 2);
  await clock.advance(999);
  assert.equal(isLost(), false);
  await clock.advance(1);
  assert.equal(isLost(), true);
});

test('a device that slept while a probe was pending asks once more before the socket ends', async () => {
  const { clock, socket, sleep, pings, isLost } = openSocket();
  socket.probe();
  sleep(600_000);
  await clock.advance(5000);
  assert.deepEqual([isLost(), pings()], [false, 2]);
  await clock.advance(5000);
  assert.equal(isLost(), true);
});

test('[REG-9] a check that is late asks before it closes the socket', async () => {
  const { clock, sleep, pings, isLost } = openSocket({ pingAfterMs: 2500, timeoutMs: 4500 });
  // The page was busy when the check was due.
  sleep(2500);
  await clock.advance(2500);
  assert.deepEqual([pings(), isLost()], [1, false]);
  await clock.advance(1999);
  assert.equal(isLost(), false);
  await clock.advance(1);
  assert.equal(isLost(), true);
});
