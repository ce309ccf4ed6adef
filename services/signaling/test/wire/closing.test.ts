/** Sockets that the pod has ended and that are still open: what they hold is counted until they are gone, and nothing of them stays. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { CODES } from '@parley/protocol/codes';
import type { LimitName } from '@parley/protocol/limits';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, NO_MEDIA, ticketFor } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { randomRoom, startTestPod } from '../support/pod.ts';
import { CONTINUATION, PING, RawClient, TEXT, frame } from '../support/raw.ts';

const BUDGET = 131_072;
/** The pod waits this long for the answer to its close frame. */
const CLOSE_TIMEOUT_MS = 2000;

/** Ends a socket that has not entered. */
const BAD = frame({ opcode: TEXT, payload: 'nonsense' });
const HALF = frame({ opcode: TEXT, payload: 'x'.repeat(60_000) }).subarray(0, 40_000);
const FRAGMENT = frame({ opcode: TEXT, payload: 'x'.repeat(40_000), fin: false });

async function podWith(
  context: TestContext,
  limits: Partial<Record<LimitName, number>>,
): Promise<RunningPod> {
  const pod = await startTestPod({ limits });
  context.after(() => pod.close());
  return pod;
}

async function connect(context: TestContext, { url }: RunningPod): Promise<RawClient> {
  const raw = await RawClient.open(url, randomRoom());
  context.after(() => raw.destroy());
  return raw;
}

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('[LIM-10] sockets that are closing', () => {
  for (const { title, writes } of [
    { title: 'a frame that begins after the end', writes: [BAD, HALF] },
    { title: 'a frame that begins in the chunk that ends the socket', writes: [Buffer.concat([BAD, HALF])] },
    { title: 'fragments', writes: [BAD, FRAGMENT] },
  ]) {
    test(`[LIM-10] what they hold is counted until they are gone, then no timer stays: ${title}`, async (context) => {
      const { url, pod } = await podWith(context, {});
      const before = timers();
      const raw = await RawClient.open(url, randomRoom());
      context.after(() => raw.destroy());
      for (const bytes of writes) {
        raw.write(bytes);
        await raw.closeCode();
      }
      await eventually('it is counted', () => pod.budgets.incomplete.bytes >= 40_000, 1000);
      await eventually('the socket is gone', () => pod.socketCount === 0, 2 * CLOSE_TIMEOUT_MS);
      assert.equal(pod.budgets.incomplete.bytes, 0);
      assert.ok(timers() <= before, 'a timer of the socket stays');
    });
  }

  test('[LIM-10] over the budget they are cut off at once (pod.reassemblyBytes)', async (context) => {
    const running = await podWith(context, { 'pod.reassemblyBytes': BUDGET });
    const { budgets } = running.pod;
    const sockets = await Promise.all(Array.from({ length: 10 }, () => connect(context, running)));
    for (const socket of sockets) socket.write(BAD);
    await Promise.all(sockets.map((socket) => socket.closeCode()));
    const since = performance.now();
    for (const socket of sockets) {
      socket.write(FRAGMENT);
      socket.write(frame({ opcode: CONTINUATION, payload: 'x', fin: false }));
    }
    const most = Math.floor(BUDGET / FRAGMENT.length);
    await eventually('most are gone', () => {
      assert.ok(budgets.incomplete.bytes <= BUDGET);
      return running.pod.socketCount <= most;
    });
    assert.ok(performance.now() - since < CLOSE_TIMEOUT_MS / 2, 'they were waited for');
  });

  test('[LIM-10] [PAGE-5] visitors over address.sockets get the refusal on a socket, up to a number of sockets', async (context) => {
    const running = await podWith(context, { 'address.sockets': 1 });
    const opened = Array.from({ length: 200 }, () => RawClient.openPages(running.url));
    const sockets = await Promise.all(opened);
    context.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    const upgraded = sockets.filter(({ text }) => text.startsWith('HTTP/1.1 101'));
    const refused = sockets.filter(({ text }) => text.startsWith('HTTP/1.1 429'));
    assert.equal(upgraded.length + refused.length, 200);
    assert.equal(upgraded.length, 1 + 64);
    for (const { text } of refused) assert.ok(text.includes('TOO_MANY_SOCKETS'));
    const codes = await Promise.all(upgraded.slice(1).map((socket) => socket.closeCode()));
    assert.deepEqual(new Set(codes), new Set([CODES.TOO_MANY_SOCKETS.close]));
    await Promise.all(upgraded.slice(1).map((socket) => socket.ended()));
    const next = await RawClient.openPages(running.url);
    context.after(() => next.destroy());
    assert.equal(await next.closeCode(), CODES.TOO_MANY_SOCKETS.close);
  });
});

describe('[LIM-19] what arrives on a socket that is closing', () => {
  const VALID = frame({ opcode: TEXT, payload: '{"type":"ping"}' });
  const PINGS = Buffer.concat(Array.from({ length: 100 }, () => frame({ opcode: PING, payload: 'x' })));

  for (const [title, flood] of [
    ['messages', Buffer.concat(Array.from({ length: 100 }, () => VALID))],
    ['pings', PINGS],
    ['bytes', frame({ opcode: TEXT, payload: 'x'.repeat(60_000) })],
  ] as const) {
    test(`[LIM-19] has the rates of one that is open, and over them the socket is cut off at once: ${title}`, async (context) => {
      const running = await podWith(context, {
        'socket.messages': 1,
        'socket.messageBurst': 10,
        'socket.bytes': 1024,
        'socket.byteBurst': 50_000,
      });
      const raw = await connect(context, running);
      raw.write(BAD);
      assert.equal(await raw.closeCode(), CODES.BAD_MESSAGE.close);
      const since = performance.now();
      raw.write(flood);
      await eventually('it is gone', () => running.pod.socketCount === 0, CLOSE_TIMEOUT_MS / 2);
      assert.ok(performance.now() - since < CLOSE_TIMEOUT_MS / 2);
      const metrics = await (await fetch(`${running.url}/metrics`)).text();
      assert.match(metrics, /^parley_refusals_total\{code="RATE_LIMITED"\} 1$/m);
    });
  }

  test('[LIM-19] a flood that ends a socket does not cut off the error', async (context) => {
    const running = await podWith(context, { 'socket.messages': 1, 'socket.messageBurst': 10 });
    const raw = await connect(context, running);
    raw.write(PINGS.subarray(0, PINGS.length / 6));
    assert.equal(await raw.closeCode(), CODES.RATE_LIMITED.close);
    await pause(CLOSE_TIMEOUT_MS / 10);
    assert.equal(running.pod.socketCount, 1, 'it may still answer the close frame');
  });
});

describe('[LIM-11] readers that are closed with bytes waiting', () => {
  const WIDE = {
    'socket.messages': 100_000,
    'socket.messageBurst': 100_000,
    'socket.bytes': 1_000_000_000,
    'socket.byteBurst': 1_000_000_000,
  } as const;
  const LOAD = 'x'.repeat(30_000);

  /** A participant that reads nothing any more, and one that sends to it. */
  async function stalled(context: TestContext, running: RunningPod): Promise<[RawClient, () => void]> {
    const ada = await Client.enter(running.url, randomRoom());
    context.after(() => ada.drop());
    const raw = await RawClient.open(running.url, ada.room);
    context.after(() => raw.destroy());
    const { ticket, participant } = await ticketFor(running.url, ada.room);
    raw.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Slow', media: NO_MEDIA });
    await ada.waitFor('joined', { match: ({ member }) => member.participant === participant });
    raw.stream.pause();
    const speak = (): void => {
      for (let count = 0; count < 10; count += 1) ada.send(participant, 'm', LOAD);
    };
    return [raw, speak];
  }

  const refused = async ({ url }: RunningPod, code: string, times = 1): Promise<boolean> =>
    (await (await fetch(`${url}/metrics`)).text()).includes(
      `parley_refusals_total{code="${code}"} ${times}\n`,
    );

  test('[LIM-4] one that is too far behind is cut off at once, with what waits for it (socket.bufferedBytes)', async (context) => {
    const running = await podWith(context, { ...WIDE, 'socket.bufferedBytes': 65_536 });
    const [, speak] = await stalled(context, running);
    await eventually(
      'it is refused',
      () => {
        speak();
        return refused(running, 'SLOW_CONSUMER');
      },
      10_000,
    );
    await eventually('it is gone', () => running.pod.socketCount === 1, CLOSE_TIMEOUT_MS / 2);
    await eventually('nothing waits', () => running.pod.budgets.buffered.bytes === 0);
  });

  test('[LIM-11] what waits for one that reads again is counted no more, long before the next ping', async (context) => {
    const limits = { ...WIDE, 'socket.bufferedBytes': 16_777_216, 'socket.pingInterval': 60_000 };
    const running = await podWith(context, limits);
    const [raw, speak] = await stalled(context, running);
    await eventually(
      'something waits',
      () => {
        speak();
        return running.pod.budgets.buffered.bytes > 100_000;
      },
      10_000,
    );
    raw.stream.resume();
    await eventually('nothing waits', () => running.pod.budgets.buffered.bytes === 0);
  });

  test('[LIM-11] what waits for one that is closed for another reason is counted until it is gone', async (context) => {
    const limits = { ...WIDE, 'socket.bufferedBytes': 16_777_216, 'socket.badMessages': 1 };
    const running = await podWith(context, limits);
    const { pod } = running;
    const [raw, speak] = await stalled(context, running);
    await eventually(
      'something waits',
      () => {
        speak();
        return pod.budgets.buffered.bytes > 100_000;
      },
      10_000,
    );
    raw.write(Buffer.concat([BAD, BAD]));
    await eventually('it is refused', () => refused(running, 'BAD_MESSAGE', 2), CLOSE_TIMEOUT_MS / 2);
    assert.ok(pod.budgets.buffered.bytes > 100_000, `${pod.budgets.buffered.bytes}`);
    await eventually('it is gone', () => pod.socketCount === 1, 2 * CLOSE_TIMEOUT_MS);
    await eventually('nothing waits', () => pod.budgets.buffered.bytes === 0);
  });
});
