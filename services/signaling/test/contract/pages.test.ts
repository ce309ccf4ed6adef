/** What pages require of messages between pods, checked with memory and with real NATS. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { NO_ROOM, type DirectedTransfer } from '@parley/protocol/directed';
import type { PageBusMessage } from '@parley/protocol/pages-bus';
import { memoryPages } from '../../src/adapters/memory-pages.ts';
import { natsPages } from '../../src/adapters/nats-pages.ts';
import type { PageBus } from '../../src/core/ports.ts';
import { eventually } from '../support/deadline.ts';
import { connectTo, startNats, type TestNats } from '../support/nats.ts';

const PAGE = 'c0ffee00'.repeat(8);

interface Member {
  readonly bus: PageBus;
  readonly received: PageBusMessage[];
  readonly transfers: DirectedTransfer[];
}
type Join = (pod: string) => Promise<Member>;

const ask = (pod: string): PageBusMessage => ({ type: 'page-section-request', page: PAGE, pod });
const about = (): Omit<Member, 'bus'> => ({ received: [], transfers: [] });
const listener = ({ received, transfers }: Omit<Member, 'bus'>) => ({
  onMessage: (message: PageBusMessage) => void received.push(message),
  onTransfer: (transfer: DirectedTransfer) => void transfers.push(transfer),
  onBack: () => undefined,
});

let nats: TestNats;
const close: (() => Promise<void>)[] = [];
before(async () => {
  nats = await startNats();
});
after(async () => {
  for (const one of close) await one();
  await nats.close();
});

function overMemory(): Join {
  const network = memoryPages();
  return (pod) => {
    const member = about();
    return Promise.resolve({ ...member, bus: network.join(pod, listener(member)) });
  };
}

function overNats(): Join {
  return async (pod) => {
    const member = about();
    const connection = await connectTo(nats, pod);
    close.push(() => connection.close());
    const bus = natsPages(connection, pod, listener(member), (subject, reason) =>
      assert.fail(`${subject}: ${reason}`),
    );
    await connection.flush();
    return { ...member, bus };
  };
}

for (const [kind, open] of Object.entries({ memory: overMemory, NATS: overNats })) {
  describe(`pages over ${kind}`, () => {
    let one: Member;
    let two: Member;
    before(async () => {
      const join = open();
      one = await join('pod-a');
      two = await join('pod-b');
    });
    /** Resolves when earlier messages have arrived. */
    const settled = async (): Promise<void> => {
      for (const [from, to, pod] of [
        [one, two, 'pod-b'],
        [two, one, 'pod-a'],
      ] as const) {
        const mark: PageBusMessage = {
          type: 'page-directed-ack',
          pod: 'mark',
          ref: Date.now(),
          outcome: 'accepted',
        };
        from.bus.publishToPod(pod, mark);
        await eventually('the mark', () =>
          to.received.some((message) => message.type === 'page-directed-ack' && message.ref === mark.ref),
        );
      }
    };
    const asks = ({ received }: Member): number =>
      received.filter(({ type }) => type === 'page-section-request').length;

    test('[PAGE-11] messages of a page reach the subscribed pods, and not one that unsubscribed', async () => {
      two.bus.subscribe(PAGE);
      await settled();
      one.bus.publish(PAGE, ask('pod-a'));
      await eventually('the question', () => asks(two) === 1);
      two.bus.unsubscribe(PAGE);
      await settled();
      one.bus.publish(PAGE, ask('pod-a'));
      await settled();
      assert.deepEqual([asks(one), asks(two)], [0, 1]);
    });

    test('[PAGE-12] a heartbeat reaches every pod, the sender too', async () => {
      one.bus.heartbeat({ type: 'page-heartbeat', pod: 'pod-a', boot: 7, visitors: 3 });
      for (const { received } of [one, two])
        await eventually('the heartbeat', () => received.some(({ type }) => type === 'page-heartbeat'));
    });

    test('[PAGE-9] a directed message arrives byte for byte', async () => {
      const payload = Uint8Array.from({ length: 256 }, (_, at) => at);
      const [from, to] = ['v0000000000000001', 'v0000000000000002'];
      one.bus.transfer('pod-b', { room: NO_ROOM, from, to, ref: 7, pod: 'pod-a', binary: true, payload });
      await eventually('the transfer', () => two.transfers.length === 1);
      assert.deepEqual(
        { ...two.transfers[0], payload: [...(two.transfers[0]?.payload ?? [])] },
        { room: NO_ROOM, from, to, ref: 7, pod: 'pod-a', binary: true, payload: [...payload] },
      );
    });
  });
}
