/** Traces of joins, as a collector receives them over OTLP/HTTP. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import type { Limits } from '@parley/protocol/limits';
import { startCollector, type CollectedSpan, type Collector } from '../../../../infra/local/src/collector.ts';
import { otlpSpans } from '../../src/adapters/otlp-spans.ts';
import { readTraceparent } from '../../src/server/traces.ts';
import { Client, join, ticketFor } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { Owner } from '../support/owner.ts';
import { from, randomRoom, startTestPod } from '../support/pod.ts';

interface Traced {
  readonly url: string;
  readonly collector: Collector;
  /** Resolves when the collector has a span of this name. */
  readonly span: (name: string) => Promise<CollectedSpan>;
  readonly metric: (name: string) => Promise<string | undefined>;
}

async function traced(t: TestContext, limits: Partial<Limits> = {}): Promise<Traced> {
  const collector = await startCollector();
  const resource = { 'service.name': 'parley-signaling' };
  const spans = otlpSpans({ url: collector.url, resource, onFailed: () => {} });
  const pod = await startTestPod({
    spans,
    limits: { 'trace.percent': 100, ...limits },
    config: { trustedProxies: 1 },
  });
  t.after(async () => {
    await pod.close();
    await collector.close();
  });
  return {
    url: pod.url,
    collector,
    async span(name) {
      let found: CollectedSpan | undefined;
      await eventually(`the span ${name}`, () => {
        found = collector.spans.find((span) => span.name === name);
        return found !== undefined;
      });
      assert.ok(found);
      return found;
    },
    async metric(name) {
      const page = await (await fetch(`${pod.url}/metrics`)).text();
      return new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1];
    },
  };
}

const traceparent = (flags: string): { header: string; trace: string; span: string } => {
  const [trace, span] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { header: `00-${trace}-${span}-${flags}`, trace, span };
};

/** Sends `enter` with the time that the client claims. */
async function enter(url: string, room: string, header: string, elapsedMs: number): Promise<Client> {
  const { ticket } = await ticketFor(url, room, { headers: { traceparent: header } });
  const client = new Client(room);
  await client.connect(url);
  const media = { audio: false, video: false, screen: false };
  client.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Ada Lovelace', media, elapsedMs });
  await client.welcomed();
  return client;
}

const POST = 'POST /v1/rooms/{room}/join';

test('[TRACE-1] [TRACE-2] [TRACE-3] one join is one trace: the client, the request, the socket, the room, and the credentials for TURN', async (t) => {
  const { url, collector, span } = await traced(t);
  const { header, trace, span: caller } = traceparent('00');
  const room = randomRoom();
  const client = await enter(url, room, header, 250);
  t.after(() => client.drop());
  const joined = await span('join');
  const [request, entered, inRoom, turn] = [
    await span(POST),
    await span('enter'),
    await span('room'),
    await span('issue TURN credentials'),
  ];
  for (const one of collector.spans) assert.equal(one.traceId, trace, one.name);
  assert.deepEqual([joined.spanId, joined.parentSpanId], [caller, undefined]);
  assert.deepEqual(
    [request, entered, inRoom, turn].map(({ parentSpanId }) => parentSpanId),
    [caller, request.spanId, entered.spanId, inRoom.spanId],
  );
  assert.equal(request.attributes['http.response.status_code'], 200);
  // The client began 250 ms before its message came, and was in the room when the welcome was sent.
  assert.ok(Math.abs(entered.startMs - joined.startMs - 250) < 2, `${joined.startMs} ${entered.startMs}`);
  assert.ok(joined.endMs + 1 >= turn.startMs, `${joined.endMs} ${turn.startMs}`);
  const text = JSON.stringify(collector.spans);
  for (const secret of [room, 'Lovelace', '127.0.0.1'])
    assert.ok(!text.includes(secret), `${secret} is in no span`);
});

test('[TRACE-3] a span that its client records is not written by the pod', async (t) => {
  const { url, collector, span } = await traced(t);
  const { header, trace, span: caller } = traceparent('01');
  const client = await enter(url, randomRoom(), header, 10);
  t.after(() => client.drop());
  assert.equal((await span('enter')).traceId, trace);
  assert.equal((await span(POST)).parentSpanId, caller);
  // It would have come with the other spans.
  await pause(1500);
  assert.equal(collector.spans.filter(({ name }) => name === 'join').length, 0);
});

test('[TRACE-1] without a valid traceparent a join has a trace of its own', async (t) => {
  const { url, collector } = await traced(t);
  const zeros = `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`;
  for (const header of ['', 'nonsense', zeros])
    await join(url, randomRoom(), { headers: { traceparent: header } });
  await eventually('three spans', () => collector.spans.length === 3);
  assert.deepEqual(
    collector.spans.map(({ parentSpanId }) => parentSpanId),
    [undefined, undefined, undefined],
  );
  assert.equal(new Set(collector.spans.map(({ traceId }) => traceId)).size, 3);
});

test('[TRACE-1] joins over pod.traces, and those that are not sampled, work and are not traced', async (t) => {
  const few = await traced(t, { 'pod.traces': 1 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => join(few.url, randomRoom())));
  assert.ok(answers.every(({ ok }) => ok));
  const [all, dropped] = [
    Number(await few.metric('parley_traced_joins_total')),
    Number(await few.metric('parley_traced_joins_dropped_total')),
  ];
  assert.ok(all >= 1 && all < 20 && all + dropped === 20, `${all} and ${dropped}`);
  const none = await traced(t, { 'trace.percent': 0 });
  const client = await enter(none.url, randomRoom(), traceparent('01').header, 10);
  t.after(() => client.drop());
  assert.equal(await none.metric('parley_traced_joins_total'), '0');
});

test('[TRACE-1] a network that is over address.traces takes none of the traces of others', async (t) => {
  const { url, metric } = await traced(t, { 'address.traces': 3 });
  const joins = (address: string, count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => join(url, randomRoom(), { headers: from(address) })));
  await joins('192.0.2.1', 9);
  await joins('192.0.2.2', 2);
  // Within the second or two that these take, a network gets no fourth one.
  assert.deepEqual(
    [await metric('parley_traced_joins_total'), await metric('parley_traced_joins_dropped_total')],
    ['5', '6'],
  );
});

test('[TRACE-2] a refused join says why in its span, and a seat is a span of its own', async (t) => {
  const { url, collector, span } = await traced(t);
  const owner = await Owner.of(url, { cap: 1 });
  const client = await Client.enter(url, owner.room);
  t.after(() => client.drop());
  const [seat, inRoom] = [await span('take a seat'), await span('room')];
  assert.deepEqual([seat.parentSpanId, seat.failed], [inRoom.spanId, false]);
  await join(url, owner.room);
  await eventually('the refusal', () => collector.spans.some(({ failed }) => failed));
  const refused = collector.spans.find(({ failed }) => failed);
  assert.deepEqual([refused?.name, refused?.attributes['error.type']], [POST, 'ROOM_FULL']);
});

test('[TRACE-2] a collector that is gone delays and breaks nothing, and the reason is told', async (t) => {
  const collector = await startCollector();
  await collector.close();
  const failures: string[] = [];
  const spans = otlpSpans({ url: collector.url, resource: {}, onFailed: (reason) => failures.push(reason) });
  const pod = await startTestPod({ spans, limits: { 'trace.percent': 100 } });
  t.after(() => pod.close());
  const client = await Client.enter(pod.url, randomRoom());
  client.drop();
  // It is told after the last of some attempts, which wait for each other.
  await eventually('the failure', () => failures.length > 0, 20_000);
});

test('[TRACE-1] traceparent is read as W3C Trace Context defines it', () => {
  const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  assert.deepEqual(readTraceparent(`00-${trace}-${span}-01`), { trace, span, records: true });
  assert.deepEqual(readTraceparent(`00-${trace}-${span}-02`), { trace, span, records: false });
  assert.deepEqual(readTraceparent(`cc-${trace}-${span}-01-what`), { trace, span, records: true });
  for (const invalid of [
    undefined,
    '',
    `ff-${trace}-${span}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}`,
    `00-${trace}-${span}-01x`,
    `00-${trace}-${span}-01-what`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
  ])
    assert.equal(readTraceparent(invalid), undefined, invalid);
});
