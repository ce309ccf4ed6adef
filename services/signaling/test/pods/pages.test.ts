/** Pages on pods that are processes of their own, over real NATS: what ends, and what does not, when one of them does. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import { directedText } from '@parley/protocol/directed';
import { eventually } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { writeKeys } from '../support/pod.ts';
import { Visitor } from '../support/visitor.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';

const PAGE = 'c0ffee00'.repeat(8);
const SETTLE_MS = 3000;

const keys = writeKeys();
const running: { close(): Promise<unknown> }[] = [];
let nats: TestNats;
before(async () => {
  nats = await nextNats();
});
after(async () => {
  for (const one of running.toReversed()) await one.close();
  keys.remove();
});

async function nextNats(): Promise<TestNats> {
  const server = await startNats();
  running.push(server);
  return server;
}

let pods = 0;
async function nextPod(server = nats): Promise<PodProcess> {
  pods += 1;
  const limits = { 'page.settleTime': SETTLE_MS };
  const pod = await startPodProcess({ name: `pod-${pods}`, nats: server.url, keysFile: keys.file, limits });
  running.push({ close: () => pod.kill() });
  return pod;
}

async function holderOn(pod: PodProcess): Promise<Visitor> {
  const holder = await Visitor.arrive(pod);
  holder.sendMessage({ type: 'announce', page: PAGE, whole: true, bytes: 1000 });
  return holder;
}

async function readerOn(pod: PodProcess): Promise<Visitor> {
  const reader = await Visitor.arrive(pod);
  reader.sendMessage({ type: 'subscribe', page: PAGE });
  return reader;
}

/** Whether it was ever sent that the page is gone. */
const wasReportedGone = ({ messages }: Visitor, since = 0): boolean =>
  messages.slice(since).some((one) => one.type === 'count' && one.settled && one.holders === 0);

describe('a page', { concurrency: 3 }, () => {
  test('[PAGE-12] [PAGE-13] outlives the pod of its only holder: not gone until it is back, and found again from its new pod', async () => {
    const server = await nextNats();
    const [one, two] = await Promise.all([nextPod(server), nextPod(server)]);
    await holderOn(one);
    const reader = await readerOn(two);
    await eventually('it is found', () => reader.count === '1+1', 10_000);
    const since = reader.messages.length;
    await one.kill();
    await eventually('the pod is missed', () => reader.count === '0+1?');
    const back = await holderOn(two);
    await eventually('it is counted again', () => reader.count.startsWith('1+1'));
    await eventually('its new id is offered', () => reader.holders.includes(back.arrived.visitor));
    assert.ok(!wasReportedGone(reader, since));
    back.socket.terminate();
    await eventually('it is gone', () => reader.count === '0+1', SETTLE_MS + 2000);
    reader.socket.terminate();
  });

  test('[PAGE-13] [RES-8] is not gone while its only holder is sent to another pod', async () => {
    const server = await nextNats();
    const [one, two] = await Promise.all([nextPod(server), nextPod(server)]);
    const holder = await holderOn(one);
    const reader = await readerOn(two);
    await eventually('it is found', () => reader.count === '1+1', 10_000);
    const since = reader.messages.length;
    one.signal('SIGTERM');
    await eventually('it receives goaway', () => holder.is('goaway'));
    await eventually('its socket is closed', () => holder.closed === CODES.GOAWAY.close);
    // The gap without a holder is reported, but not as the end.
    await eventually('it has no holder for now', () => reader.count === '0+1?');
    const back = await holderOn(two);
    await eventually('it is counted again', () => reader.count.startsWith('1+1'));
    assert.equal(await one.ended(), 0);
    await eventually('all is settled', () => reader.count === '1+1', SETTLE_MS + 5000);
    assert.ok(!wasReportedGone(reader, since));
    for (const { socket } of [back, reader]) socket.terminate();
  });

  test('[PAGE-12] is found again after NATS was down, and directed messages arrive again', async () => {
    const server = await nextNats();
    const [one, two] = await Promise.all([nextPod(server), nextPod(server)]);
    const holder = await holderOn(one);
    const reader = await readerOn(two);
    await eventually('it is found', () => reader.count === '1+1', 10_000);
    await server.kill();
    await eventually('nothing is settled', () => reader.count === '1+1?');
    reader.socket.send(directedText(holder.arrived.visitor, '1', 'lost'));
    await eventually('it is not taken', () => reader.is('undelivered'));
    const later = await holderOn(one);
    await server.start();
    await eventually('all is known again', () => reader.count === '2+1', 15_000);
    reader.socket.send(directedText(later.arrived.visitor, '2', 'hello'));
    await eventually('it arrives', () => later.directed.some(({ text }) => text === 'hello'));
    for (const { socket } of [holder, later, reader]) socket.terminate();
  });
});
