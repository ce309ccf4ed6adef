import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_STALL_MS, watchStalls } from '@parley/e2e/support/stalls.ts';
import { Client } from '../../../../services/signaling/test/support/client.ts';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { randomRoom } from '../../../../services/signaling/test/support/pod.ts';
import { Caller } from '../support/caller.ts';
import { lab, linked } from '../support/lab.ts';
import { ends, isBack, restore, type End } from '../support/loss.ts';

/** `ROUNDS=20` for figures. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const CALLERS = 4;
const MOVED_WITHIN_MS = 10_000;
/** Messages from anywhere reach the new pod, as after a lost message between pods. */
const SEEN_WITHIN_MS = 3000;
const SENT_EVERY_MS = 200;
const REPEATED = 'hello';

const regions = lab({ 'address.joins': 100_000, 'address.reads': 100_000 });

/** How long it took each caller, in ms. */
async function round(t: TestContext, end: End): Promise<number[]> {
  const lab = regions();
  const room = randomRoom();
  const witnesses = await Promise.all(
    (['us', 'ap'] as const).map((region) => Client.enter(lab.pod(region, 2), room, region)),
  );
  const callers = await Promise.all(
    Array.from({ length: CALLERS }, (_, at) => Caller.enter(`caller ${at}`, lab.pod('eu', 1), room, 'eu')),
  );
  const all = [...callers, ...witnesses];
  t.after(() => all.forEach((one) => one.leave()));
  const ids = callers.flatMap(({ participants }) => [...participants]);
  for (const witness of witnesses)
    for (const id of ids)
      await witness.waitFor('joined', { match: ({ member }) => member.participant === id });
  const marks = witnesses.map(({ log }) => log.length);

  const stalled = watchStalls();
  const endedAt = performance.now();
  const bringBack = end(lab);
  const moved = await Promise.all(
    callers.map((caller) => caller.movedFrom('eu', endedAt, MOVED_WITHIN_MS + MAX_STALL_MS)),
  );
  const longest = Math.max(...moved);
  assert.ok(longest <= MOVED_WITHIN_MS + stalled(), `a caller took ${longest} ms`);
  assert.deepEqual(
    callers.flatMap(({ participants }) => [...participants]),
    ids,
    'they are the same participants',
  );
  for (const witness of witnesses) for (const caller of callers) await reaches(witness, caller);
  await bringBack();
  await isBack(lab);
  for (const [at, { log }] of witnesses.entries())
    for (const id of ids) {
      const told = eventsOf(log.slice(marks[at]), id);
      assert.ok(!told.includes('left') && !told.includes('joined'), `a witness was told ${told.join(', ')}`);
    }
  for (const one of all) one.leave();
  return moved;
}

/** What a client was sent about a participant. */
function eventsOf(log: Client['log'], id: string): string[] {
  return log.flatMap((message) => {
    const of =
      message.type === 'joined'
        ? message.member.participant
        : 'participant' in message && message.participant;
    return of === id ? [message.type] : [];
  });
}

/** A message that is sent before the new pod of the caller is known is reported as undelivered; the client sends it again. */
async function reaches(witness: Client, caller: Caller): Promise<void> {
  const [id = ''] = caller.participants;
  await eventually(
    'a message reaches the caller',
    async () => {
      witness.send(id, REPEATED, REPEATED);
      await pause(SENT_EVERY_MS);
      return caller.heard.has(witness.participant);
    },
    SEEN_WITHIN_MS + MAX_STALL_MS,
  );
}

for (const [how, end] of ends)
  test(`[REG-9] FAULT=region: ${how}, and its clients are in another region within 10 s, as the same participants`, async (t) => {
    await linked(regions());
    t.after(() => restore(regions()));
    const took: number[] = [];
    for (let rounds = 0; rounds < ROUNDS; rounds += 1) took.push(...(await round(t, end)));
    const sorted = took.toSorted((a, b) => a - b);
    t.diagnostic(
      `${how}: clients moved after ${sorted[Math.trunc(sorted.length / 2)]} ms (p50), ${sorted.at(-1)} ms at most, of ${sorted.length}`,
    );
  });
