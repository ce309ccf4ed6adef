import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ParticipantId } from '@parley/protocol/ids';
import { CallData } from '../../src/data/call-data.ts';
import type { Data } from '../../src/data/data.ts';
import type { DataSignal } from '../../src/mesh/payload.ts';
import { newSecret } from '../../src/sfu/secret.ts';
import { fakeClock } from '../fakes/clock.ts';
import { participant } from '../fakes/messages.ts';

const [ADA, BEN, CEM] = ['a', 'b', 'c'].map(participant) as [ParticipantId, ParticipantId, ParticipantId];
const SECRET = newSecret(new Uint8Array(16).fill(7));
const OTHER = newSecret(new Uint8Array(16).fill(8));

class FakeChannel extends EventTarget {
  readyState: RTCDataChannelState = 'connecting';
  bufferedAmount = 0;
  readonly sent: Data[] = [];
  readonly label: string;
  readonly options: RTCDataChannelInit;

  constructor(label: string, options: RTCDataChannelInit) {
    super();
    this.label = label;
    this.options = options;
  }

  send(data: Data): void {
    this.sent.push(data);
  }

  become(state: 'open' | 'closed'): void {
    this.readyState = state;
    this.dispatchEvent(new Event(state === 'open' ? 'open' : 'close'));
  }

  close(): void {
    this.become('closed');
  }
}

function stand(me = ADA, secret: string | null = null) {
  const clock = fakeClock();
  const channels: FakeChannel[] = [];
  const signals: (readonly [ParticipantId, DataSignal])[] = [];
  const received: (readonly [ParticipantId, Data])[] = [];
  const state = { linked: false, connected: true, secret };
  const data = new CallData({
    room: 'aaaa-bbbb-cccc-dddd',
    clock,
    random: { fraction: () => 0.5, bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
    subtle: crypto.subtle,
    me: () => me,
    secret: () => state.secret,
    openChannel: (_to, label, options) => {
      if (!state.linked) return null;
      channels.push(new FakeChannel(label, options));
      return channels.at(-1) as unknown as RTCDataChannel;
    },
    sendSignal: (to, signal) => {
      if (state.connected) signals.push([to, signal]);
      return state.connected;
    },
    onData: (...one) => void received.push(one),
  });
  return { clock, channels, signals, received, state, data };
}

/** Passes on what one sent through the service, `change`d on the way. */
async function passOn(
  { signals }: ReturnType<typeof stand>,
  reader: ReturnType<typeof stand>,
  change: (signal: DataSignal) => Partial<DataSignal> = () => ({}),
): Promise<readonly Data[]> {
  const before = reader.received.length;
  for (const [, signal] of signals) await reader.data.receive(ADA, { ...signal, ...change(signal) });
  return reader.received.slice(before).map(([, data]) => data);
}

describe('data over channels', () => {
  test('[DATA-1] a first message opens a channel and waits for it; later ones follow in order, in the same channel', async () => {
    const { data, channels, state, signals } = stand();
    state.linked = true;
    const sending = ['one', 'two', new Uint8Array([3])].map((one) => data.send([BEN], one, 'reliable'));
    await new Promise((resolve) => setImmediate(resolve));
    const [channel] = channels;
    assert.deepEqual(
      [channel?.label, channel?.options, channel?.sent],
      ['parley-data', { ordered: true }, []],
    );
    channel?.become('open');
    assert.deepEqual(await Promise.all(sending), [[BEN], [BEN], [BEN]]);
    assert.deepEqual(channel?.sent, ['one', 'two', new Uint8Array([3])]);
    assert.deepEqual([channels.length, signals.length], [1, 0]);
  });

  test('[DATA-1] lossy data has a channel of its own, and goes through the service until that is open', async () => {
    const { data, channels, state, signals } = stand();
    state.linked = true;
    assert.deepEqual(await data.send([BEN], 'one', 'lossy'), [BEN]);
    const [channel] = channels;
    assert.deepEqual(
      [channel?.label, channel?.options],
      ['parley-data-lossy', { ordered: false, maxRetransmits: 0 }],
    );
    channel?.become('open');
    assert.deepEqual(await data.send([BEN], 'two', 'lossy'), [BEN]);
    assert.deepEqual([signals.length, channel?.sent], [1, ['two']]);
  });

  test('[DATA-1] a channel that closes or does not open gives way to the service, and the next message to another channel', async () => {
    const { data, channels, state, signals, clock } = stand();
    state.linked = true;
    const first = data.send([BEN], 'one', 'reliable');
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(5000);
    assert.deepEqual(await first, [BEN]);
    assert.equal(signals.length, 1);
    channels[0]?.become('closed');
    assert.deepEqual(await data.send([BEN], 'at once', 'reliable'), [BEN]);
    assert.deepEqual([channels.length, signals.length], [1, 2], 'it was refused');
    await clock.advance(30_000);
    const second = data.send([BEN], 'two', 'reliable');
    await new Promise((resolve) => setImmediate(resolve));
    channels[1]?.become('open');
    assert.deepEqual(await second, [BEN]);
    assert.deepEqual([channels[1]?.sent, signals.length], [['two'], 2]);
  });

  test('[DATA-1] a reader that is a mebibyte behind gets no more, and others do', async () => {
    const { data, channels, state } = stand();
    state.linked = true;
    const opened = data.send([BEN, CEM], 'one', 'reliable');
    await new Promise((resolve) => setImmediate(resolve));
    for (const channel of channels) channel.become('open');
    await opened;
    const [slow] = channels;
    assert.ok(slow);
    slow.bufferedAmount = 1_048_577;
    assert.deepEqual(await data.send([BEN, CEM], 'two', 'reliable'), [CEM]);
    assert.deepEqual(slow.sent, ['one']);
  });

  test('[DATA-1] of what waits for a channel a mebibyte is kept', async () => {
    const { data, state } = stand();
    state.linked = true;
    const large = new Uint8Array(16_384);
    const sending = Array.from({ length: 70 }, () => data.send([BEN], large, 'reliable'));
    const refused = await Promise.race([Promise.all(sending.slice(65)), sending[0]]);
    assert.deepEqual(refused, [[], [], [], [], []]);
  });
});

describe('data through the service', () => {
  test('[DATA-2] what is encrypted sooner does not overtake', async () => {
    const [ada, ben] = [stand(ADA, SECRET), stand(BEN, SECRET)];
    const sizes = [16_384, 1, 16_384, 1, 16_384, 1];
    await Promise.all(
      sizes.map(async (size, nth) =>
        ada.data.send([BEN], new Uint8Array(size), nth % 2 === 0 ? 'reliable' : 'lossy'),
      ),
    );
    assert.equal((await passOn(ada, ben)).length, sizes.length);
  });

  for (const secret of [null, SECRET])
    test(`[DATA-2] text and bytes arrive as they were sent, ${secret === null ? 'in the clear' : 'and the service cannot read them'}`, async () => {
      const [ada, ben] = [stand(ADA, secret), stand(BEN, secret)];
      const bytes = Uint8Array.from({ length: 16_384 }, (_, at) => at & 255);
      for (const data of ['größer', '', bytes])
        assert.deepEqual(await ada.data.send([BEN], data, 'reliable'), [BEN]);
      assert.deepEqual(await passOn(ada, ben), ['größer', '', bytes]);
      const clear = ada.signals[0]?.[1].data === Buffer.from('größer').toString('base64url');
      assert.equal(clear, secret === null);
    });

  test('[DATA-2] nothing is read that was changed, repeated, kept back behind a later one, or is for or of another', async () => {
    const [ada, ben, cem] = [stand(ADA, SECRET), stand(BEN, SECRET), stand(CEM, SECRET)];
    await ada.data.send([BEN], 'secret', 'reliable');
    for (const change of [
      ({ number }: DataSignal) => ({ number: number + 1 }),
      () => ({ text: false }),
      () => ({ sealed: false }),
      ({ data }: DataSignal) => ({ data: `${data.slice(0, -2)}AA` }),
      () => ({ data: '!' }),
      () => ({ data: '' }),
    ])
      assert.deepEqual(await passOn(ada, ben, change), [], change.toString());
    assert.deepEqual(await passOn(ada, cem), [], 'for another');
    const [[, signal] = []] = ada.signals;
    assert.ok(signal);
    await ben.data.receive(CEM, signal);
    assert.deepEqual(ben.received, [], 'as that of another');
    assert.deepEqual(await passOn(ada, ben), ['secret']);
    assert.deepEqual(await passOn(ada, ben), [], 'repeated');
    await ben.data.receive(ADA, { ...signal, number: signal.number - 1 });
    assert.equal(ben.received.length, 1);
  });

  test('[DATA-2] a reader without the key, or with another one, reads nothing, and one with a key nothing in the clear', async () => {
    for (const [from, to] of [
      [SECRET, null],
      [SECRET, OTHER],
      [null, SECRET],
    ] as const) {
      const [ada, ben] = [stand(ADA, from), stand(BEN, to)];
      await ada.data.send([BEN], 'one', 'reliable');
      assert.deepEqual(await passOn(ada, ben), [], `${from} ${to}`);
    }
  });

  test('[DATA-2] over the pace messages are not sent, and later ones are', async () => {
    const { data, clock, signals } = stand();
    const everyone = Array.from({ length: 61 }, () => BEN);
    assert.equal((await data.send(everyone, 'x', 'lossy')).length, 60);
    await clock.advance(1000);
    assert.equal((await data.send(everyone, 'x', 'lossy')).length, 20);
    await clock.advance(60_000);
    const large = new Uint8Array(16_384);
    assert.equal((await data.send(everyone, large, 'lossy')).length, 16, '256 KiB');
    await clock.advance(1000);
    assert.equal((await data.send(everyone, large, 'lossy')).length, 4, '64 KiB a second');
    assert.equal(signals.length, 100);
  });

  test('[DATA-2] without a socket nothing is sent', async () => {
    const { data, state } = stand();
    state.connected = false;
    assert.deepEqual(await data.send([BEN], 'one', 'reliable'), []);
  });

  test('[DATA-3] more than 16 KiB is not read', async () => {
    const ben = stand(BEN);
    const data = Buffer.alloc(16_385).toString('base64url');
    await ben.data.receive(ADA, { type: 'data', number: 1, text: false, sealed: false, data });
    assert.deepEqual(ben.received, []);
  });
});
