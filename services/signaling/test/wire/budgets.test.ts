/** Bytes that sockets make a pod hold: the network that holds too many is closed, the others go on. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CODES } from '@parley/protocol/codes';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, NO_MEDIA, ticketFor } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { from, randomRoom, startLimitedPod } from '../support/pod.ts';
import { RawClient, TEXT, frame } from '../support/raw.ts';

const MANY = from('203.0.113.1');
const FEW = from('203.0.113.2');

async function visit(context: TestContext, { url }: RunningPod, headers = MANY): Promise<RawClient> {
  const raw = await RawClient.openPages(url, headers);
  context.after(() => raw.destroy());
  return raw;
}

async function metric({ url }: RunningPod, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? 0);
}

const HALF = frame({ opcode: TEXT, payload: 'x'.repeat(40_000) }).subarray(0, 30_000);
const PING = frame({ opcode: TEXT, payload: '{"type":"ping"}' });

describe('[LIM-10] incomplete messages', () => {
  for (const { limit, title } of [
    {
      limit: 'address.reassemblyBytes',
      title: '[LIM-10] over the budget of a network a socket of it is closed, and no other network',
    },
    {
      limit: 'pod.reassemblyBytes',
      title: '[LIM-10] over the budget of the pod the network that holds most is closed, and no other',
    },
  ] as const) {
    test(`${title} (${limit})`, async (context) => {
      const pod = await startLimitedPod(context, { [limit]: 65_536 });
      const other = await visit(context, pod, FEW);
      other.write(PING.subarray(0, 9));
      const first = await visit(context, pod);
      const second = await visit(context, pod);
      first.write(HALF);
      await eventually(
        'the first is counted',
        async () => (await metric(pod, 'parley_reassembly_bytes')) > 30_000,
      );
      second.write(HALF);
      await eventually('both are', async () => (await metric(pod, 'parley_reassembly_bytes')) > 60_000);
      const third = await visit(context, pod);
      third.write(HALF);
      const closed = await Promise.any([first, second, third].map((raw) => raw.closeCode()));
      assert.equal(closed, CODES.REASSEMBLY_LIMIT_EXCEEDED.close);
      other.write(PING.subarray(9));
      await other.until('the pong', () => other.text.includes('"pong"'));
      assert.ok((await metric(pod, 'parley_reassembly_bytes')) <= 65_536);
      assert.equal(await metric(pod, 'parley_refusals_total{code="REASSEMBLY_LIMIT_EXCEEDED"}'), 1);
    });
  }

  test('[LIM-10] sockets that hold most are closed before others of their network (address.reassemblyBytes)', async (context) => {
    const pod = await startLimitedPod(context, { 'address.reassemblyBytes': 65_536 });
    const { incomplete } = pod.pod.budgets;
    const hogs = [await visit(context, pod), await visit(context, pod)];
    for (const hog of hogs) hog.write(HALF);
    await eventually('both are counted', () => incomplete.bytes > 60_000);
    const spare = 65_536 - incomplete.bytes;
    hogs[0]?.write(HALF.subarray(0, spare - 600));
    await eventually('the budget is all but spent', () => incomplete.bytes > 65_000);
    const neighbour = await visit(context, pod);
    neighbour.write(PING.subarray(0, 9));
    const closed = await Promise.any(hogs.map((hog) => hog.closeCode()));
    assert.equal(closed, CODES.REASSEMBLY_LIMIT_EXCEEDED.close);
    neighbour.write(PING.subarray(9));
    await neighbour.until('the pong', () => neighbour.text.includes('"pong"'));
    assert.equal(pod.pod.socketCount, 2);
  });

  test('[LIM-10] what was completed, or closed, is not counted any more', async (context) => {
    const pod = await startLimitedPod(context, {});
    const complete = await visit(context, pod);
    complete.write(PING.subarray(0, 9));
    const gone = await visit(context, pod);
    gone.write(HALF);
    await eventually('both are counted', async () => (await metric(pod, 'parley_reassembly_bytes')) > 30_500);
    complete.write(PING.subarray(9));
    gone.destroy();
    await eventually('nothing is', async () => (await metric(pod, 'parley_reassembly_bytes')) === 0);
  });

  test('[LIM-8] a frame that comes byte by byte is closed before it is complete (message.chunks)', async (context) => {
    const pod = await startLimitedPod(context, { 'message.chunks': 16 });
    const raw = await visit(context, pod);
    raw.stream.setNoDelay(true);
    for (const byte of frame({ opcode: TEXT, payload: 'x'.repeat(5000) })) {
      if (raw.isEnded) break;
      raw.write(Uint8Array.of(byte));
      await turn();
    }
    assert.equal(await raw.closeCode(), CODES.TOO_MANY_FRAGMENTS.close);
  });
});

describe('[LIM-11] bytes that wait to be read', () => {
  const WIDE = {
    'socket.messages': 100_000,
    'socket.messageBurst': 100_000,
    'socket.bytes': 1_000_000_000,
    'socket.byteBurst': 1_000_000_000,
    'socket.bufferedBytes': 67_108_864,
  } as const;

  for (const { limit, title } of [
    {
      limit: 'address.bufferedBytes',
      title: '[LIM-11] readers of one network that stall are closed at its budget, and no other network',
    },
    {
      limit: 'pod.bufferedBytes',
      title: '[LIM-11] readers that stall are closed at the budget of the pod, and no other network',
    },
  ] as const) {
    test(`${title} (${limit})`, async (context) => {
      const budget = 1_000_000;
      const pod = await startLimitedPod(context, { ...WIDE, [limit]: budget });
      const room = randomRoom();
      const ada = new Client(room);
      const { ticket } = await ticketFor(pod.url, room, { headers: FEW });
      await ada.connect(pod.url, FEW);
      ada.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Ada', media: NO_MEDIA });
      await ada.welcomed();
      context.after(() => ada.drop());
      const stalled = [await stall(context, pod, ada), await stall(context, pod, ada)];
      const load = 'x'.repeat(30_000);
      await eventually(
        'a reader is closed',
        () => {
          for (const participant of stalled)
            for (let count = 0; count < 5; count += 1) ada.send(participant, 'm', load);
          return ada.log.some(({ type }) => type === 'away');
        },
        10_000,
      );
      assert.ok((await metric(pod, 'parley_refusals_total{code="SLOW_CONSUMER"}')) >= 1);
      assert.ok((await metric(pod, 'parley_buffered_bytes')) <= budget);
      const since = ada.log.length;
      ada.sendMessage({ type: 'ping' });
      await ada.waitFor('pong', { since });
    });
  }

  test('[LIM-11] what was read is not counted any more', async (context) => {
    const pod = await startLimitedPod(context, WIDE);
    const room = randomRoom();
    const ada = await Client.enter(pod.url, room);
    context.after(() => ada.drop());
    const raw = await RawClient.open(pod.url, room);
    context.after(() => raw.destroy());
    const participant = await enter(raw, pod, ada);
    raw.stream.pause();
    const load = 'x'.repeat(30_000);
    await eventually('something waits', async () => {
      for (let count = 0; count < 10; count += 1) ada.send(participant, 'm', load);
      return (await metric(pod, 'parley_buffered_bytes')) > 100_000;
    });
    raw.stream.resume();
    await eventually('nothing waits', async () => (await metric(pod, 'parley_buffered_bytes')) === 0);
  });
});

/** A participant of the network with many sockets that reads nothing any more. */
async function stall(context: TestContext, pod: RunningPod, ada: Client): Promise<string> {
  const raw = await RawClient.open(pod.url, ada.room, MANY);
  context.after(() => raw.destroy());
  const participant = await enter(raw, pod, ada);
  raw.stream.pause();
  return participant;
}

async function enter(raw: RawClient, { url }: RunningPod, ada: Client): Promise<string> {
  const { ticket, participant } = await ticketFor(url, ada.room, { headers: MANY });
  raw.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Slow', media: NO_MEDIA });
  await ada.waitFor('joined', { match: ({ member }) => member.participant === participant });
  return participant;
}
