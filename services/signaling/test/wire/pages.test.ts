/** Visitors of pages on real sockets: two pods on real NATS, and the limits of admission. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { decodeJwt } from 'jose';
import { directedText } from '@parley/protocol/directed';
import { readConfig } from '../../src/server/config.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { eventually } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { startTestPod, writeKeys } from '../support/pod.ts';
import { Visitor } from '../support/visitor.ts';

const PAGE = 'c0ffee00'.repeat(8);

describe('two pods on NATS', () => {
  let nats: TestNats;
  let pods: [RunningPod, RunningPod];
  before(async () => {
    nats = await startNats();
    const open = (name: string): Promise<RunningPod> =>
      startTestPod({ name, nats: nats.url, limits: { 'page.settleTime': 0 } });
    pods = [await open('pod-a'), await open('pod-b')];
  });
  after(async () => {
    for (const pod of pods) await pod.close();
    await nats.close();
  });

  test('[PAGE-5] [PAGE-6] [PAGE-8] [PAGE-9] a holder is found from another pod, counted, and receives directed messages', async () => {
    const ada = await Visitor.arrive(pods[0]);
    const bo = await Visitor.arrive(pods[1]);
    ada.sendMessage({ type: 'announce', page: PAGE, whole: true, bytes: 1000 });
    bo.sendMessage({ type: 'subscribe', page: PAGE });
    await eventually('the holder is found', () => bo.holders.includes(ada.arrived.visitor));
    bo.socket.send(directedText(ada.arrived.visitor, '1', 'hello'));
    await eventually('it arrives', () => ada.directed.length === 1);
    assert.deepEqual(ada.directed, [{ from: bo.arrived.visitor, text: 'hello' }]);
    await eventually('both are counted', () =>
      [ada, bo].every(({ messages }) =>
        messages.some((one) => one.type === 'count' && one.holders === 1 && one.readers === 1 && one.settled),
      ),
    );
    ada.socket.terminate();
    await eventually('it is gone', () =>
      bo.messages.some((one) => one.type === 'count' && one.holders === 0 && one.settled),
    );
    const metrics = await (await fetch(`${pods[1].url}/metrics`)).text();
    assert.match(metrics, /^parley_visitors 1$/m);
    bo.socket.terminate();
  });

  test('[PAGE-9] an unknown receiver is reported, and a participant is not a visitor', async () => {
    const ada = await Visitor.arrive(pods[0]);
    ada.socket.send(directedText('v0000000000000000', '1', 'anybody?'));
    ada.socket.send(directedText('p0000000000000000', '2', 'anybody?'));
    await eventually('both are answered', () => ada.is('undelivered') && ada.errors.length === 1);
    assert.deepEqual(ada.errors, ['BAD_MESSAGE']);
    ada.socket.terminate();
  });

  test('[KEY-6] [PAGE-15] the token of a pipe opens that topic of the stream relay, and nothing else', async () => {
    const ada = await Visitor.arrive(pods[0]);
    const pipe = 'A'.repeat(22);
    ada.sendMessage({ type: 'pipe', pipe });
    await eventually('the token', () => ada.is('pipe'));
    const answer = ada.messages.find((message) => message.type === 'pipe');
    const { aud, sub, publish, subscribe } = decodeJwt(answer?.token ?? '');
    assert.deepEqual(
      { aud, sub, publish, subscribe },
      {
        aud: 'parley:streams',
        sub: ada.arrived.visitor,
        publish: [`pages/${pipe}`],
        subscribe: [`pages/${pipe}`],
      },
    );
    ada.socket.terminate();
  });
});

describe('a pod keeps its limits', () => {
  const started: RunningPod[] = [];
  const podWith = async (limits: NonNullable<Parameters<typeof startTestPod>[0]>['limits'] = {}) => {
    const pod = await startTestPod({ limits });
    started.push(pod);
    return pod;
  };
  after(async () => {
    for (const pod of started) await pod.close();
  });

  test('[PAGE-5] a refused visitor gets the reason on the socket, where a browser can read it: pod.sockets', async () => {
    const pod = await podWith({ 'pod.sockets': 1 });
    const ada = await Visitor.arrive(pod);
    const bo = new Visitor(pod.url);
    await eventually('it is closed', () => bo.closed !== undefined);
    assert.deepEqual([bo.errors, bo.closed], [['POD_FULL'], 4504]);
    ada.socket.terminate();
    await eventually('there is room', () => pod.pod.socketCount === 0);
    (await Visitor.arrive(pod)).socket.terminate();
  });

  test('[PAGE-7] page.requests: too many of one socket are refused, the socket stays', async () => {
    const pod = await podWith({ 'page.requests': 3 });
    const ada = await Visitor.arrive(pod);
    for (let nth = 0; nth < 4; nth += 1)
      ada.sendMessage({ type: 'announce', page: PAGE, whole: true, bytes: 1 });
    await eventually('one is refused', () => ada.errors.length === 1);
    const refusal = ada.messages.find((message) => message.type === 'error');
    assert.equal(refusal?.code, 'TOO_MANY_PAGE_REQUESTS');
    assert.equal(refusal?.ref, PAGE);
    assert.ok((refusal?.retryAfterMs ?? 0) > 0);
    ada.sendMessage({ type: 'ping' });
    await eventually('it is still there', () => ada.is('pong'));
    ada.socket.terminate();
  });

  test('[PAGE-7] address.pages: counts subscriptions of all sockets of an address', async () => {
    const pod = await podWith({ 'address.pages': 2 });
    const [ada, bo] = [await Visitor.arrive(pod), await Visitor.arrive(pod)];
    ada.sendMessage({ type: 'subscribe', page: PAGE });
    ada.sendMessage({ type: 'subscribe', page: PAGE });
    await eventually(
      'they are answered',
      () => ada.messages.filter(({ type }) => type === 'holders').length === 2,
    );
    bo.sendMessage({ type: 'subscribe', page: PAGE });
    await eventually('it is refused', () => bo.errors.length === 1);
    assert.deepEqual(bo.errors, ['TOO_MANY_PAGE_REQUESTS']);
    // Announcing is not limited.
    bo.sendMessage({ type: 'announce', page: PAGE, whole: true, bytes: 1 });
    await eventually('it is counted', () => bo.is('count'));
    for (const { socket } of [ada, bo]) socket.terminate();
  });

  test('[PAGE-9] other visitors cannot close one that reads slowly: their messages are answered with `slow`', async () => {
    const pod = await podWith({
      'socket.messages': 100_000,
      'socket.messageBurst': 100_000,
      'socket.bytes': 1_000_000_000,
      'socket.byteBurst': 1_000_000_000,
      'socket.bufferedBytes': 262_144,
    });
    const [ada, bo] = [await Visitor.arrive(pod), await Visitor.arrive(pod)];
    const load = 'x'.repeat(60_000);
    const isSlow = (): boolean =>
      bo.messages.some((message) => message.type === 'undelivered' && message.reason === 'slow');
    ada.socket.pause();
    let said = 0;
    await eventually(
      'it is slow',
      () => {
        for (let nth = 0; nth < 20 && !isSlow(); nth += 1) {
          said += 1;
          bo.socket.send(directedText(ada.arrived.visitor, `m${said}`, load));
        }
        return isSlow();
      },
      10_000,
    );
    ada.socket.resume();
    ada.sendMessage({ type: 'ping' });
    await eventually('it is still there', () => ada.is('pong'));
    assert.ok(ada.directed.length > 0 && ada.directed.length < said, `${ada.directed.length} of ${said}`);
    for (const { socket } of [ada, bo]) socket.terminate();
  });

  test('[PAGE-5] limits for visitors follow the environment of the pod: page.memoryBytes and the others', async () => {
    const keys = writeKeys();
    const { limits } = readConfig({
      PARLEY_POD: 'pod-a',
      PARLEY_NATS_URL: 'memory',
      PARLEY_KEYS_FILE: keys.file,
      PARLEY_LIMIT_PAGE_BYTES: '70001',
      PARLEY_LIMIT_PAGE_CHUNK_BYTES: '20002',
      PARLEY_LIMIT_PAGE_PER_VISITOR: '3',
      PARLEY_LIMIT_PAGE_MAX_HOLDERS: '4',
      PARLEY_LIMIT_PAGE_MAX_READERS: '5',
      PARLEY_LIMIT_PAGE_MEMORY_BYTES: '140006',
      PARLEY_LIMIT_MESSAGE_BYTES: '50007',
    });
    keys.remove();
    const ada = await Visitor.arrive(await podWith(limits));
    assert.deepEqual(ada.arrived.limits, {
      pageBytes: 70_001,
      chunkBytes: 20_002,
      perVisitor: 3,
      maxHolders: 4,
      maxReaders: 5,
      memoryBytes: 140_006,
      messageBytes: 50_007,
    });
    ada.socket.terminate();
  });

  test('[RES-8] a pod that drains sends its visitors goaway', async () => {
    const pod = await podWith();
    const ada = await Visitor.arrive(pod);
    const drained = pod.drain();
    await eventually('it receives goaway', () => ada.is('goaway'));
    await eventually('it is closed', () => ada.closed === 1012);
    await drained;
  });
});
