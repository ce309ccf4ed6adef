/** A herd: arrivals over the pace of the pod wait for their turn on their sockets, and joins get slots. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import { createTokens } from '../../src/adapters/tokens.ts';
import type { Pace } from '../../src/server/pace.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, NO_MEDIA, join, ticketFor, type Joined } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { Owner } from '../support/owner.ts';
import { from, keySet, randomRoom, startLimitedPod } from '../support/pod.ts';

const OFFICE = from('203.0.113.1');
const OTHER = from('203.0.113.2');

/** Participants that lost their sockets, before any of them resumes. */
async function lost(context: TestContext, pod: RunningPod, count: number): Promise<Client[]> {
  const room = randomRoom();
  const people: Client[] = [];
  for (let at = 0; at < count; at += 1) people.push(await Client.enter(pod.url, room, `Person ${at}`));
  context.after(() => people.forEach((client) => client.drop()));
  people.forEach((client) => client.drop());
  await eventually('their sockets are gone', () => pod.pod.socketCount === 0);
  return people;
}

/** Each opens a socket; then all resume at once. */
async function resumeAtOnce(pod: RunningPod, people: readonly Client[]): Promise<void> {
  await Promise.all(people.map((client) => client.connect(pod.url)));
  people.forEach((client) => client.sendResume());
}

const busy = (joined: Joined) => {
  assert.ok(!joined.ok, 'the join was admitted');
  assert.deepEqual([joined.error.code, joined.status], ['BUSY', 503]);
  return joined.error;
};

/** Joins until the pod has no turn left; returns the refusal. */
async function untilBusy(
  pod: RunningPod,
  headers = OTHER,
): Promise<{ slot?: string; retryAfterMs?: number }> {
  return eventually('the pod is busy', async () => {
    const joined = await join(pod.url, randomRoom(), { headers });
    return !joined.ok && busy(joined);
  });
}

/** The next one waits. */
function useUp(pace: Pace, { pod }: RunningPod): void {
  while (pace.take(pod.now()));
}

/** For some seconds no join continues without a slot. */
function onlySlots({ pod }: RunningPod): void {
  pod.turns.slots.ask('198.51.100.99', 3000, pod.now());
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('[RES-13] [LIM-20] a herd of resumes', () => {
  test('[RES-13] [LIM-20] waits on its sockets, in order, and every participant is back within the grace period (pod.resumes)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.resumes': 10 });
    const people = await lost(context, pod, 8);
    useUp(pod.pod.turns.queue.pace, pod);
    await resumeAtOnce(pod, people);
    await Promise.all(people.map((client) => client.welcomed()));
    const waits = people.flatMap(({ log }) => log.filter((message) => message.type === 'wait'));
    assert.ok(waits.length > 0);
    for (const { afterMs } of waits) assert.ok(afterMs > 0 && afterMs <= 1000, String(afterMs));
    for (const client of people) assert.ok(client.log.every(({ type }) => type !== 'left'));
    assert.equal(pod.pod.turns.queue.size, 0);
    assert.equal(pod.pod.budgets.incomplete.bytes, 0);
  });

  test('[RES-13] a socket that waits answers pings, and one that ends waits no longer', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.resumes': 2 });
    const [ada, bob, eve] = await lost(context, pod, 3);
    assert.ok(ada && bob && eve);
    await resumeAtOnce(pod, [eve, ada, bob]);
    await bob.waitFor('wait');
    bob.sendMessage({ type: 'ping' });
    await bob.waitFor('pong');
    assert.ok(pod.pod.turns.queue.size > 0);
    assert.ok(pod.pod.budgets.incomplete.bytes > 0);
    bob.drop();
    await ada.welcomed();
    await eventually('the queue is empty', () => pod.pod.turns.queue.size === 0);
    assert.equal(pod.pod.budgets.incomplete.bytes, 0);
  });

  test('[RES-13] a resume that is repeated while it waits has no second place', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.resumes': 1 });
    const [ada] = await lost(context, pod, 1);
    assert.ok(ada);
    await ada.connect(pod.url);
    useUp(pod.pod.turns.queue.pace, pod);
    ada.sendResume();
    ada.sendResume();
    await ada.waitFor('wait');
    assert.equal((await ada.waitFor('error')).code, 'ALREADY_ENTERED');
    assert.ok(pod.pod.turns.queue.size <= 1);
    await ada.welcomed();
  });

  test('[RES-13] over what is served within half of the grace period: POD_FULL with the time to wait (pod.resumes)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.resumes': 1, 'resume.grace': 4000 });
    const people = Array.from({ length: 5 }, () => new Client(randomRoom()));
    context.after(() => people.forEach((client) => client.drop()));
    const tickets: string[] = [];
    for (const client of people) {
      tickets.push((await ticketFor(pod.url, client.room)).ticket);
      await client.connect(pod.url);
    }
    useUp(pod.pod.turns.queue.pace, pod);
    people.forEach((client, at) =>
      client.sendMessage({
        type: 'enter',
        ticket: tickets[at],
        generation: 1,
        name: 'Ada',
        media: NO_MEDIA,
      }),
    );
    const outcomes = await Promise.all(
      people.map((client) =>
        client.welcomed().then(
          () => 'welcome',
          () => client.refusedWith().then(({ code, close }) => `${code} ${close}`),
        ),
      ),
    );
    const full = `POD_FULL ${CODES.POD_FULL.close}`;
    assert.deepEqual(outcomes.toSorted(), [full, full, full, 'welcome', 'welcome']);
    const { retryAfterMs = 0 } = await (people[outcomes.indexOf(full)] ?? assert.fail()).waitFor('error');
    assert.ok(retryAfterMs > 1000 && retryAfterMs <= 3000, String(retryAfterMs));
  });

  test('[LIM-20] [LIM-12] forged tokens take no turns (pod.resumes)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.resumes': 2 });
    const room = randomRoom();
    const ada = await Client.enter(pod.url, room);
    context.after(() => ada.drop());
    const strangers = createTokens(keySet());
    const forged = strangers.signResume({ sub: ada.participant, room, generation: 1, since: 0 }, 60_000);
    for (let at = 0; at < 20; at += 1) {
      const eve = new Client(room);
      await eve.connect(pod.url, OTHER);
      eve.sendResume('Eve', forged);
      assert.equal((await eve.refusedWith()).code, 'RESUME_INVALID');
      // The first may wait, after the enter.
      if (at > 0) assert.ok(eve.log.every(({ type }) => type !== 'wait'));
    }
    ada.drop();
    await ada.resume(pod.url);
  });

  test('[RES-13] [LIM-10] what waits counts as memory: over it sockets of the network are closed (address.reassemblyBytes)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.resumes': 1, 'address.reassemblyBytes': 65_536 });
    const [ada] = await lost(context, pod, 1);
    assert.ok(ada);
    const line = { from: ada.participant, name: 'Ada', text: 'x'.repeat(2000), at: 1 };
    const lines = Array.from({ length: 20 }, (_, at) => ({ ...line, id: `line-of-${at}` }));
    await ada.connect(pod.url);
    useUp(pod.pod.turns.queue.pace, pod);
    ada.sendResume('Ada', ada.welcome.resume, lines);
    assert.deepEqual(await ada.refusedWith(), {
      code: 'REASSEMBLY_LIMIT_EXCEEDED',
      close: CODES.REASSEMBLY_LIMIT_EXCEEDED.close,
    });
    assert.deepEqual([pod.pod.turns.queue.size, pod.pod.budgets.incomplete.bytes], [0, 0]);
  });

  test('[RES-13] [RES-8] [JOIN-14] a pod that drains serves none that wait, and closes them first', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.resumes': 2, 'drain.window': 5000 });
    const people = await lost(context, pod, 4);
    await resumeAtOnce(pod, people);
    const [, , , last] = people;
    assert.ok(last);
    await last.waitFor('wait');
    const drained = pod.drain();
    assert.deepEqual(await last.refusedWith(), { code: 'GOAWAY', close: CODES.GOAWAY.close });
    people.forEach((client) => client.drop());
    await drained;
  });

  test('[JOIN-14] a resume on a socket that was open when the drain began: NOT_READY', async (context) => {
    const pod = await startLimitedPod(context, {});
    const [ada] = await lost(context, pod, 1);
    assert.ok(ada);
    await ada.connect(pod.url);
    assert.deepEqual(pod.pod.turns.stop(), []);
    ada.sendResume();
    assert.deepEqual(await ada.refusedWith(), { code: 'NOT_READY', close: CODES.NOT_READY.close });
  });
});

describe('[JOIN-15] [LIM-13] a herd of newcomers', () => {
  test('[JOIN-15] [LIM-13] a join over the pace gets a slot, and continues with it, once (pod.joins)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.joins': 5 });
    const room = randomRoom();
    await untilBusy(pod);
    const joined = await join(pod.url, room, { headers: OFFICE });
    const { slot = '', retryAfterMs = 0 } = busy(joined);
    assert.match(slot, /^[\w-]{22}$/);
    // Two intervals at the lowest pace.
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 1600, String(retryAfterMs));
    assert.equal(!joined.ok && joined.retryAfter, String(Math.ceil(retryAfterMs / 1000)));
    await pause(retryAfterMs);
    const again = { headers: OFFICE, body: JSON.stringify({ slot }) };
    assert.ok((await join(pod.url, room, again)).ok);
    onlySlots(pod);
    assert.notEqual(busy(await join(pod.url, room, again)).slot, slot);
  });

  test('[JOIN-15] before its time a slot keeps its place', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.joins': 1 });
    await untilBusy(pod);
    const first = busy(await join(pod.url, randomRoom(), { headers: OFFICE }));
    const early = busy(
      await join(pod.url, randomRoom(), { headers: OFFICE, body: JSON.stringify({ slot: first.slot }) }),
    );
    assert.equal(early.slot, first.slot);
    assert.ok((early.retryAfterMs ?? 0) <= (first.retryAfterMs ?? 0));
  });

  test('[JOIN-15] the request with a slot does not count again for an office (address.joins)', async (context) => {
    const people = 4;
    const pod = await startLimitedPod(context, { 'pod.joins': 10, 'address.joins': people });
    const room = randomRoom();
    onlySlots(pod);
    const slots: { slot?: string; retryAfterMs?: number }[] = [];
    for (let at = 0; at < people; at += 1) {
      slots.push(busy(await join(pod.url, room, { headers: OFFICE })));
    }
    const over = await join(pod.url, room, { headers: OFFICE });
    assert.equal(!over.ok && over.error.code, 'TOO_MANY_JOINS');
    await pause(Math.max(...slots.map(({ retryAfterMs = 0 }) => retryAfterMs)));
    for (const { slot } of slots)
      assert.ok((await join(pod.url, room, { headers: OFFICE, body: JSON.stringify({ slot }) })).ok);
  });

  test('[JOIN-15] without a place for slots the answer has a time only (pod.slots)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.joins': 1, 'pod.slots': 0 });
    const { slot, retryAfterMs = 0 } = await untilBusy(pod);
    assert.equal(slot, undefined);
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 8000, String(retryAfterMs));
  });

  test('[JOIN-15] [JOIN-3] a full room and a locked room are refused at once, without Retry-After (room.participants)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.joins': 5, 'room.participants': 1 });
    const full = randomRoom();
    const ada = await Client.enter(pod.url, full);
    const owner = await Owner.of(pod.url);
    const inside = await Client.enter(pod.url, owner.room);
    context.after(() => [ada, inside].forEach((client) => client.drop()));
    await owner.ask(pod.url, 'PATCH', '', { locked: true });
    await inside.waitFor('room-changed');
    for (let at = 0; at < 20; at += 1) {
      for (const [room, code, status] of [
        [full, 'ROOM_FULL', 409],
        [owner.room, 'ROOM_LOCKED', 423],
      ] as const) {
        const refused = await join(pod.url, room, { headers: from(`198.51.100.${at}`) });
        assert.ok(!refused.ok);
        assert.deepEqual([refused.error.code, refused.status, refused.retryAfter], [code, status, null]);
        assert.equal(refused.error.retryAfterMs, undefined);
      }
    }
  });

  test('[LIM-13] joins that were refused before do not count (pod.joins)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.joins': 1 });
    for (let junk = 0; junk < 20; junk += 1) {
      const invalid = await join(pod.url, 'NOT_A_ROOM', { headers: OFFICE });
      assert.ok(!invalid.ok && invalid.error.code === 'ROOM_INVALID');
      const nameless = await join(pod.url, randomRoom(), { headers: OFFICE, body: '{"name":"\\n"}' });
      assert.ok(!nameless.ok && nameless.error.code === 'NAME_INVALID');
    }
    await ticketFor(pod.url, randomRoom(), { headers: OTHER });
  });

  test('[JOIN-15] [RES-13] newcomers come after the sockets that wait', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.resumes': 2 });
    const people = await lost(context, pod, 4);
    await resumeAtOnce(pod, people);
    await people[3]?.waitFor('wait');
    const { slot, retryAfterMs = 0 } = busy(await join(pod.url, randomRoom(), { headers: OTHER }));
    assert.ok(slot !== undefined && retryAfterMs > 500, String(retryAfterMs));
    await Promise.all(people.map((client) => client.welcomed()));
    const { ticket } = await ticketFor(pod.url, people[0]?.room ?? '', { headers: from('198.51.100.1') });
    const eve = new Client(people[0]?.room ?? '');
    await eve.connect(pod.url);
    context.after(() => eve.drop());
    eve.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Eve', media: NO_MEDIA });
    await eve.welcomed();
  });

  test('[LIM-13] a request for a live broadcast over the pace is BUSY, without a slot (pod.joins)', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.joins': 1 });
    await untilBusy(pod);
    const answer = await fetch(`${pod.url}/v1/live/demo`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...OFFICE },
      body: '{}',
    });
    const error = (await answer.json()) as { code: string; slot?: string };
    assert.deepEqual([answer.status, error.code, error.slot], [503, 'BUSY', undefined]);
    assert.notEqual(answer.headers.get('retry-after'), null);
  });

  test('[LIM-20] the pod reports its pace, and what waits', async (context) => {
    const pod = await startLimitedPod(context, { 'pod.joins': 1 });
    await untilBusy(pod);
    const text = await (await fetch(`${pod.url}/metrics`)).text();
    for (const name of ['parley_arrivals_waiting 0', 'parley_slots 1', 'parley_slots_given_total 1'])
      assert.ok(text.includes(`${name}\n`), name);
    assert.match(text, /^parley_arrivals_per_second \d/m);
    assert.match(text, /^parley_joins_per_second [01]/m);
  });
});
