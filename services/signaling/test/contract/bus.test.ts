/** What the core requires of a bus, checked with memory and with real NATS. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { BusMessage } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import { podDirectedSubject, podSubject, roomSubject } from '@parley/protocol/subjects';
import { memoryNetwork } from '../../src/adapters/memory-bus.ts';
import { natsBus } from '../../src/adapters/nats-bus.ts';
import type { Bus } from '../../src/core/ports.ts';
import { eventually } from '../support/deadline.ts';
import { connectTo, startNats, type TestNats } from '../support/nats.ts';
import { randomRoom } from '../support/pod.ts';

interface Member {
  readonly bus: Bus;
  readonly received: BusMessage[];
  readonly transfers: DirectedTransfer[];
  readonly back: number[];
  /** Resolves when the server has read what this pod subscribed to. */
  flush(): Promise<void>;
}

interface Network {
  join(pod: string): Promise<Member>;
  close(): Promise<void>;
}

const ask = (room: string, pod: string): BusMessage => ({ type: 'sections-request', room, pod });
type Seen = Pick<Member, 'received' | 'transfers' | 'back'>;

const member = (): Seen => ({ received: [], transfers: [], back: [] });
const listener = ({ received, transfers, back }: Seen) => ({
  onMessage: (message: BusMessage) => void received.push(message),
  onTransfer: (transfer: DirectedTransfer) => void transfers.push(transfer),
  onBack: () => void back.push(1),
});

function overMemory(): Network {
  const network = memoryNetwork();
  return {
    join(pod) {
      const about = member();
      const bus = network.join(pod, listener(about));
      return Promise.resolve({ ...about, bus, flush: () => Promise.resolve() });
    },
    close: () => Promise.resolve(),
  };
}

async function overNats(nats: TestNats): Promise<Network> {
  const buses: Bus[] = [];
  return {
    async join(pod) {
      const about = member();
      const connection = await connectTo(nats, pod);
      const bus = natsBus(connection, pod, listener(about), (subject, reason) =>
        assert.fail(`${subject}: ${reason}`),
      );
      buses.push(bus);
      const flush = (): Promise<void> => connection.flush();
      await flush();
      return { ...about, bus, flush };
    },
    async close() {
      for (const bus of buses) await bus.close();
    },
  };
}

let nats: TestNats;
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

for (const [kind, open] of Object.entries({
  memory: () => Promise.resolve(overMemory()),
  NATS: () => overNats(nats),
})) {
  describe(`bus over ${kind}`, () => {
    let network: Network;
    let pods: [Member, Member, Member];
    before(async () => {
      network = await open();
      pods = [await network.join('pod-a'), await network.join('pod-b'), await network.join('pod-c')];
    });
    after(() => network.close());

    test('[BUS-2] messages of a room reach the subscribed pods, in order, and not their sender', async () => {
      const [one, two, three] = pods;
      const room = randomRoom();
      one.bus.subscribe(room);
      two.bus.subscribe(room);
      await settled(two, three);
      for (let seq = 1; seq <= 50; seq += 1) one.bus.publish(room, digest(room, seq));
      await eventually('all messages', () => of(two, room).length === 50);
      assert.deepEqual(
        of(two, room).map((message) => ('seq' in message ? message.seq : 0)),
        Array.from({ length: 50 }, (_, at) => at + 1),
      );
      await settled(one, two, three);
      assert.deepEqual([of(one, room).length, of(three, room).length], [0, 0]);
    });

    test('[BUS-2] a pod that unsubscribes receives nothing more, and after subscribing again receives each message once', async () => {
      const [one, two] = pods;
      const room = randomRoom();
      two.bus.subscribe(room);
      two.bus.unsubscribe(room);
      await settled(two, one);
      one.bus.publish(room, digest(room, 1));
      await settled(one, two);
      assert.equal(of(two, room).length, 0);
      two.bus.subscribe(room);
      two.bus.subscribe(room);
      await settled(two, one);
      one.bus.publish(room, digest(room, 2));
      await settled(one, two);
      assert.equal(of(two, room).length, 1);
    });

    test('[BUS-2] a message to one pod reaches that pod alone', async () => {
      const [one, two, three] = pods;
      const room = randomRoom();
      one.bus.publishToPod('pod-b', ask(room, 'pod-a'));
      await eventually('the message', () => of(two, room).length === 1);
      await settled(one, two, three);
      assert.deepEqual([of(one, room).length, of(three, room).length], [0, 0]);
      assert.deepEqual(of(two, room)[0], ask(room, 'pod-a'));
    });

    test('[ROS-13] a heartbeat reaches every pod, the sender too', async () => {
      const [one, two, three] = pods;
      one.bus.heartbeat({ type: 'heartbeat', pod: 'pod-a', boot: 77 });
      for (const { received } of [one, two, three]) {
        await eventually('the heartbeat', () =>
          received.some((message) => message.type === 'heartbeat' && message.boot === 77),
        );
      }
    });

    test('[DIR-2] a directed message arrives byte for byte, text and binary, empty and large', async () => {
      const [one, two] = pods;
      const room = randomRoom();
      const everyByte = Uint8Array.from({ length: 256 }, (_, at) => at);
      const payloads = [everyByte, new Uint8Array(0), new Uint8Array(65_000).fill(7)];
      for (const [ref, payload] of payloads.entries()) {
        const from = 'p0000000000000001';
        const to = 'p0000000000000002';
        one.bus.transfer('pod-b', { room, from, to, ref, pod: 'pod-a', binary: ref % 2 === 0, payload });
      }
      const mine = (): DirectedTransfer[] => two.transfers.filter((transfer) => transfer.room === room);
      await eventually('the transfers', () => mine().length === 3);
      for (const [ref, payload] of payloads.entries()) {
        assert.deepEqual(Buffer.from(mine()[ref]?.payload ?? []), Buffer.from(payload));
        assert.equal(mine()[ref]?.binary, ref % 2 === 0);
      }
    });

    test('[BUS-4] a message to a pod that does not exist is lost without an error', async () => {
      const [one, two] = pods;
      one.bus.publishToPod('nobody', ask(randomRoom(), 'pod-a'));
      await settled(one, two);
      assert.ok(one.bus.isConnected());
    });

    test('[BUS-1] pods share no objects: a message that arrives is a copy', async () => {
      const [one, two] = pods;
      const room = randomRoom();
      const message = ask(room, 'pod-a');
      one.bus.publishToPod('pod-b', message);
      await eventually('the message', () => of(two, room).length === 1);
      assert.notEqual(of(two, room)[0], message);
    });
  });
}

test('[BUS-4] a message larger than NATS accepts is lost and logged, and affects no other', async () => {
  const connection = await connectTo(nats, 'pod-big');
  const about = member();
  const bad: string[] = [];
  const bus = natsBus(connection, 'pod-big', listener(about), (subject) => void bad.push(subject));
  const room = randomRoom();
  const line = {
    id: 'line-0001',
    from: 'p0000000000000001',
    name: 'Ada',
    text: 'x'.repeat(2_000_000),
    at: 1,
    proof: 'A'.repeat(22),
  };
  bus.publishToPod('pod-big', { type: 'chat', room, pod: 'pod-z', line });
  bus.publishToPod('pod-big', ask(room, 'pod-z'));
  await eventually('the refusal', () => bad.length === 1);
  await eventually('the next message', () => about.received.length === 1);
  await bus.close();
});

test('[BUS-16] what goes to one pod in a turn is one message of NATS, and nothing overtakes it', async (t) => {
  const own = await startNats();
  const watching = await connectTo(own, 'pod-w');
  const network = await overNats(own);
  t.after(() => Promise.all([network.close(), watching.close()]).then(() => own.close()));
  const seen: string[] = [];
  const one = await network.join('pod-a');
  const two = await network.join('pod-b');
  const room = randomRoom();
  for (const subject of [podSubject('pod-b'), podDirectedSubject('pod-b'), roomSubject(room)])
    watching.subscribe(subject, { callback: (_, { subject: at }) => void seen.push(at) });
  two.bus.subscribe(room);
  await settled(one, two);
  await watching.flush();
  seen.length = 0;
  const asked = Array.from({ length: 5 }, () => ask(randomRoom(), 'pod-a'));
  for (const [ref, message] of asked.entries()) {
    const payload = Buffer.from(`candidate\n${ref}`);
    const [from, to] = ['p0000000000000001', 'p0000000000000002'];
    one.bus.transfer('pod-b', { room, from, to, ref, pod: 'pod-a', binary: false, payload });
    one.bus.publishToPod('pod-b', message);
  }
  const [toRoom, last] = [ask(room, 'pod-a'), ask(randomRoom(), 'pod-a')];
  one.bus.publish(room, toRoom);
  one.bus.publishToPod('pod-b', last);
  const sent = [...asked, toRoom, last];
  const mine = (): BusMessage[] =>
    two.received.filter((message) => sent.some((one) => isDeepStrictEqual(one, message)));
  await eventually('all of them', () => mine().length === 7 && two.transfers.length === 5);
  assert.deepEqual(mine(), sent);
  assert.deepEqual(
    two.transfers.map(({ ref, payload }) => `${ref} ${Buffer.from(payload).toString()}`),
    asked.map((_, ref) => `${ref} candidate\n${ref}`),
  );
  await watching.flush();
  const subjects = [podDirectedSubject('pod-b'), podSubject('pod-b'), roomSubject(room), podSubject('pod-b')];
  assert.deepEqual(seen, subjects);
});

test('[BUS-5] a killed NATS is detected at once; when it is back within 5 s the pod is notified and receives its rooms again', async (t) => {
  const own = await startNats();
  const network = await overNats(own);
  t.after(() => network.close().then(() => own.close()));
  const one = await network.join('pod-a');
  const two = await network.join('pod-b');
  const room = randomRoom();
  two.bus.subscribe(room);
  await own.kill();
  await eventually('both see it', () => !one.bus.isConnected() && !two.bus.isConnected());
  // Published on a broken link: lost, not queued.
  one.bus.publish(room, digest(room, 1));
  await own.start();
  await eventually('both are notified', () => one.back.length === 1 && two.back.length === 1);
  // The client says that it is connected before the server has read its subscriptions.
  await two.flush();
  one.bus.publish(room, digest(room, 2));
  await eventually('messages of the room arrive', () => of(two, room).length > 0);
  assert.deepEqual(
    of(two, room).map((message) => ('seq' in message ? message.seq : 0)),
    [2],
  );
});

const digest = (room: string, seq: number): BusMessage => ({
  type: 'digest',
  room,
  pod: 'pod-a',
  epoch: 1,
  seq,
  hash: 0,
});

const of = ({ received }: Member, room: string): BusMessage[] =>
  received.filter((message) => 'room' in message && message.room === room);

/** Resolves when all earlier messages of these pods have arrived: a later message of each has arrived. */
async function settled(...members: Member[]): Promise<void> {
  for (const { bus, received } of members) {
    const room = randomRoom();
    for (const pod of ['pod-a', 'pod-b', 'pod-c']) bus.publishToPod(pod, ask(room, 'pod-z'));
    await eventually('the round', () =>
      received.some((message) => 'room' in message && message.room === room),
    );
  }
}
