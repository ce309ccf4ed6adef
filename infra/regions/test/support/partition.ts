/** A cut between regions, from its begin until all participants see each other again: what each of them must notice, and what not. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import { roundTripMs } from '../../src/links.ts';
import type { Regions } from '../../src/regions.ts';
import type { RegionName } from '../../src/site.ts';
import { gather, linked, LINKED_WITHIN_MS } from './lab.ts';
import type { People, Person } from './people.ts';

/** SPEC rule REG-3. */
const UNREACHABLE_WITHIN_MS = 5000;
/** After NATS is connected again; in addition to one round trip. */
const BACK_WITHIN_MS = 2000;
/**
 * A gateway server that dialled into the cut gives up after a second and dials again a second later, which NATS lets no configuration change; then come
 * four round trips.
 */
const RELINKED_WITHIN_MS = 3000;
/** SPEC rule DIR-5. */
const AT_ONCE_MS = 250;
const DELIVERED_WITHIN_MS = 2000;
const LOOK_EVERY_MS = 5000;

export interface Partition {
  readonly cut: RegionName;
  /** All others, if it is not named. */
  readonly from?: RegionName;
  readonly lastsMs: number;
}

export async function partition(
  t: TestContext,
  regions: Regions,
  { cut, from, lastsMs }: Partition,
): Promise<void> {
  const people = await gather(t, regions);
  const isApart = (one: Person, other: Person): boolean =>
    one.region !== other.region &&
    (one.region === cut || other.region === cut) &&
    (from === undefined || one.region === from || other.region === from);
  const apart = pairs(people, isApart);
  const together = pairs(people, (one, other) => !isApart(one, other));

  const cutAt = performance.now();
  regions.cut(cut, from);
  await areCutOff(apart, cutAt, t);
  for (;;) {
    await Promise.all([
      ...together.map(([one, other]) => one.reaches(other, DELIVERED_WITHIN_MS)),
      ...apart.map(([one, other]) => isRefused(one, other)),
    ]);
    const leftMs = cutAt + lastsMs - performance.now();
    if (leftMs <= 0) break;
    await pause(Math.min(LOOK_EVERY_MS, leftMs));
  }
  people.assertSaw((watcher, of) => (isApart(watcher, of) ? ['unreachable'] : []));
  const [speaker] = people.in(cut);
  const line = sayInRoom(speaker);

  await areReunited(regions, apart, t);
  await Promise.all(apart.map(([one, other]) => one.reaches(other, DELIVERED_WITHIN_MS)));
  await Promise.all(
    people.all
      .filter((one) => one !== speaker)
      .map(({ client }) => client.waitFor('chat', { match: ({ line: { id } }) => id === line })),
  );
  people.assertSaw((watcher, of) => (isApart(watcher, of) ? ['unreachable', 'back'] : []));
  await people.assertRosters();
}

/** A watcher, and one that it sees. */
type Pair = readonly [Person, Person];

export function pairs({ all }: People, which: (watcher: Person, of: Person) => boolean): Pair[] {
  return all.flatMap((one) =>
    all.filter((other) => other !== one && which(one, other)).map((other) => [one, other] as const),
  );
}

/** Fails where one is not unreachable for its watcher in time. */
export async function areCutOff(apart: readonly Pair[], cutAt: number, t: TestContext): Promise<void> {
  const stalled = watchStalls();
  const seen = await timesOf('unreachable', apart, cutAt, UNREACHABLE_WITHIN_MS);
  t.diagnostic(`unreachable after ${range(seen)} ms`);
  assertInTime(seen, () => UNREACHABLE_WITHIN_MS, stalled());
}

/** Heals all links. Fails where one is not back for its watcher in time after the gateway servers are connected. */
export async function areReunited(regions: Regions, apart: readonly Pair[], t: TestContext): Promise<void> {
  const stalled = watchStalls();
  const healedAt = performance.now();
  regions.heal();
  const [linkedMs, seen] = await Promise.all([
    linked(regions).then(() => performance.now() - healedAt),
    timesOf('back', apart, healedAt, LINKED_WITHIN_MS + BACK_WITHIN_MS),
  ]);
  t.diagnostic(`gateway servers connected after ${Math.round(linkedMs)} ms, back after ${range(seen)} ms`);
  const inTime = ([watcher, of]: Pair): number =>
    linkedMs + BACK_WITHIN_MS + roundTripMs(watcher.region, of.region);
  const stalledMs = stalled();
  assertInTime(seen, inTime, stalledMs);
  assert.ok(
    linkedMs <= RELINKED_WITHIN_MS + stalledMs,
    `gateway servers were connected after ${linkedMs} ms`,
  );
}

interface Sight {
  readonly pair: Pair;
  readonly afterMs: number;
}

const timesOf = (
  seen: 'unreachable' | 'back',
  of: readonly Pair[],
  since: number,
  withinMs: number,
): Promise<Sight[]> =>
  Promise.all(
    of.map(async (pair) => {
      const [watcher, one] = pair;
      return { pair, afterMs: Math.round((await watcher.sees(seen, one, withinMs)) - since) };
    }),
  );

function range(sights: readonly Sight[]): string {
  const all = sights.map(({ afterMs }) => afterMs);
  return `${Math.min(...all)} to ${Math.max(...all)}`;
}

/** Stalls of this machine are added to the bound. */
function assertInTime(sights: readonly Sight[], withinMs: (pair: Pair) => number, stalledMs: number): void {
  const late = sights
    .filter(({ pair, afterMs }) => afterMs > withinMs(pair) + stalledMs)
    .map(({ pair: [watcher, of], afterMs }) => `${of.name} for ${watcher.name} after ${afterMs} ms`);
  assert.deepEqual(late, [], `too late, with ${stalledMs} ms of stalls`);
}

async function isRefused(one: Person, other: Person): Promise<void> {
  const stalled = watchStalls();
  const { reason, afterMs } = await one.fails(other, AT_ONCE_MS);
  assert.equal(reason, 'unreachable');
  assert.ok(afterMs <= AT_ONCE_MS + stalled(), `${one.name} was notified after ${afterMs} ms`);
}

function sayInRoom({ client, name }: Person): string {
  const id = `line-of-${name}`;
  client.sendMessage({ type: 'chat', id, text: 'said during the cut' });
  return id;
}
