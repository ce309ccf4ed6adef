import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Call } from '../../src/call.ts';
// Loaded already, so that it needs no time.
import '../../src/data/call-data.ts';
import type { Data } from '../../src/data/data.ts';
import { DataSession } from '../../src/data/data-session.ts';
import type { Mesh } from '../../src/mesh/mesh.ts';
import { ME, member, participant, welcome } from '../fakes/messages.ts';
import { fakePorts } from '../fakes/ports.ts';
import { fakeService, type FakeService } from '../fakes/service.ts';

const [ADA, BEN, CEM] = ['a', 'b', 'c'].map(participant) as [ParticipantId, ParticipantId, ParticipantId];

/** A call with Ada and Ben, who are here, and Cem, who is away. No connection of it is ever established. */
async function together(): Promise<{ readonly service: FakeService; readonly call: Call }> {
  const service = fakeService();
  const call = service.join();
  await service.settle();
  service.socket.open();
  const others = [ADA, BEN, CEM].map((one) => member(one, one));
  const roster = [member(ME, 'Me'), ...others].map((one) =>
    one.participant === CEM ? { ...one, state: 'away' as const } : one,
  );
  service.socket.sendMessage(welcome({ roster }));
  return { service, call };
}

/** The data among the directed messages: their readers and the signals. */
const sentData = ({ socket }: FakeService): readonly (readonly [string, Record<string, unknown>])[] =>
  socket.directed.flatMap((sent) => {
    if (typeof sent !== 'string') return [];
    const [head = '', payload = ''] = sent.split('\n');
    const signal = JSON.parse(payload) as Record<string, unknown>;
    return signal['type'] === 'data' ? [[head.slice(1).split(' ')[0] ?? '', signal] as const] : [];
  });

describe('call.send', () => {
  test('[DATA-1] sends to all who are here, or to the one that is named, and names them', async () => {
    const { service, call } = await together();
    assert.deepEqual(await call.send('hello'), [ADA, BEN]);
    assert.deepEqual(await call.send(new Uint8Array([1, 2]), { to: BEN, reliable: false }), [BEN]);
    assert.deepEqual(await call.send('x', { to: CEM }), [], 'away');
    assert.deepEqual(await call.send('x', { to: ME }), []);
    await service.settle();
    const sent = sentData(service);
    assert.deepEqual(
      sent.map(([to, { text, data }]) => [to, text, data]),
      [
        [ADA, true, Buffer.from('hello').toString('base64url')],
        [BEN, true, Buffer.from('hello').toString('base64url')],
        [BEN, false, 'AQI'],
      ],
    );
    const numbers = sent.map(([, { number }]) => Number(number));
    assert.ok(numbers.every((number, nth) => nth === 0 || number > (numbers[nth - 1] ?? 0)));
  });

  test('[DATA-1] more than 16 KiB is an error, also of characters of several bytes', async () => {
    const { call } = await together();
    for (const data of ['x'.repeat(16_385), 'ü'.repeat(8193), new Uint8Array(16_385)])
      await assert.rejects(call.send(data), RangeError);
    assert.deepEqual(await call.send('ü'.repeat(8192), { to: ADA }), [ADA]);
  });

  test('[DATA-1] an array that the application changes at once is sent as it was', async () => {
    const { service, call } = await together();
    const array = new Uint8Array([1]);
    const sending = call.send(array, { to: ADA });
    array[0] = 2;
    await sending;
    await service.settle();
    assert.deepEqual(
      sentData(service).map(([, { data }]) => data),
      ['AQ'],
    );
  });

  test('[DATA-2] data that was not delivered does not repair the link, as a signal of it does', async () => {
    /** The directed messages within 400 ms after the service says that the last one, or one with this id, was not delivered. */
    const after = async (given?: string): Promise<number> => {
      const { service, call } = await together();
      // The first offers are sent by then.
      await service.ports.clock.advance(1000);
      await call.send('lost', { to: ADA });
      await service.settle();
      const { directed } = service.socket;
      const id = given ?? String(directed.at(-1)).split(/[ \n]/)[1] ?? '';
      const before = directed.length;
      service.socket.sendMessage({ type: 'undelivered', to: ADA, id, reason: 'timeout' });
      await service.ports.clock.advance(400);
      await service.settle();
      return directed.length - before;
    };
    assert.ok((await after()) < (await after('1')));
  });

  test('before the welcome and after the end nothing is sent, and nothing throws', async () => {
    const service = fakeService();
    const call = service.join();
    assert.deepEqual(await call.send('early'), []);
    await service.settle();
    service.socket.open();
    service.socket.sendMessage(welcome({ roster: [member(ME, 'Me'), member(ADA, 'Ada')] }));
    call.leave();
    assert.deepEqual(await call.send('late'), []);
  });
});

describe('call.onData', () => {
  const signal = (number: number, text: string): string =>
    JSON.stringify({
      type: 'data',
      number,
      text: true,
      sealed: false,
      data: Buffer.from(text).toString('base64url'),
    });

  test('[DATA-2] what comes through the service reaches each listener until it ends, in order, and no one before', async () => {
    const { service, call } = await together();
    const [first, second]: [unknown[], unknown[]] = [[], []];
    const send = async (number: number, text: string): Promise<void> => {
      service.socket.text(`<${ADA}\n${signal(number, text)}`);
      await service.settle();
    };
    await send(1, 'unheard');
    const end = call.onData((...one) => void first.push(one));
    call.onData((from, data) => void second.push([from, data]));
    await send(2, 'one');
    await send(2, 'one');
    await send(3, 'two');
    end();
    await send(4, 'three');
    assert.deepEqual(first, [
      [ADA, 'one'],
      [ADA, 'two'],
    ]);
    assert.deepEqual(second, [...first, [ADA, 'three']]);
  });

  test('[DATA-3] of channels only those for data are read, and no message of more than 16 KiB', () => {
    const session = new DataSession(null, {
      room: 'aaaa-bbbb-cccc-dddd',
      ports: fakePorts(),
      mesh: undefined as unknown as Mesh,
      me: () => ME,
      members: () => new Map(),
    });
    const [received, closed]: [Data[], string[]] = [[], []];
    session.listen((_from, data) => void received.push(data));
    const channel = (label: string) => {
      const made = Object.assign(new EventTarget(), {
        label,
        binaryType: 'blob',
        close: () => void closed.push(label),
      });
      session.read(ADA, made as unknown as RTCDataChannel);
      return (data: unknown) => made.dispatchEvent(new MessageEvent('message', { data }));
    };
    for (const label of ['other', 'parley-database']) channel(label)('unread');
    assert.deepEqual(closed, ['other', 'parley-database']);
    const say = channel('parley-data');
    for (const data of ['text', new Uint8Array([1]).buffer, 'x'.repeat(16_385), new ArrayBuffer(16_385)])
      say(data);
    channel('parley-data-lossy')('lossy');
    assert.deepEqual(received, ['text', new Uint8Array([1]), 'lossy']);
  });
});
