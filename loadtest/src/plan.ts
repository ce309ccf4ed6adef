/** What is measured, in which order, and how it is called. */
import type { Budget } from './budget.ts';
import type { Job } from './job.ts';

export type RowName = 'join' | 'directed' | 'memory' | 'herd';
export type ReferenceName = 'naive' | 'opaque' | 'equal';
/** `parley-2`: two pods. `-before`: of an earlier commit. */
export type ServerName = ReferenceName | 'parley' | 'parley-2' | `${'parley' | 'parley-2'}${typeof EARLIER}`;

type Load = Omit<Job & { kind: 'mesh' }, 'dialect' | 'targets' | 'watched'>;
type Shape =
  | Load
  | Omit<Job & { kind: 'tickets' }, 'dialect' | 'targets' | 'watched'>
  | Omit<Job & { kind: 'pairs' }, 'dialect' | 'targets' | 'watched'>
  | Omit<Job & { kind: 'idle' }, 'dialect' | 'targets' | 'watched'>
  | Omit<Job & { kind: 'herd' }, 'dialect' | 'targets' | 'watched'>;

/** What the id of a variant on the earlier commit ends with. */
export const EARLIER = '-before';

export interface Variant {
  readonly id: string;
  readonly label: string;
  readonly server: ServerName;
  readonly load: Shape;
}

export interface Row {
  readonly name: RowName;
  readonly title: string;
  /** What one operation is, and the unit of CPU for it. */
  readonly unit: 'ms per join' | 'µs per message' | 'KB per connection' | '% of a core';
  /** A B A B within a round. */
  readonly variants: readonly Variant[];
}

const CALLS = 8;
/** The fastest reference would otherwise outrun the generator; the others are near it or below. */
const CALLS_PER_SECOND = 250;
/** What a room costs after everyone has gone (2 s until it is closed) falls into the measured part, too. */
const PARLEY_WARM_MS = 3000;
const WARM_MS = 1000;
const JOIN_MS = 3000;
const DIRECTED_MS = 2500;
const TICKETS_MS = 2000;
/** For the run of the socket part; where they run out before its time, its measured part ends there. */
const TICKETS = 5000;
/** Of each half: together a few thousand, so that what a process takes once is a small part of the figure. */
const SOCKETS = 2000;

const mesh = (warmMs: number, tickets: 'asked' | 'kept'): Shape => ({
  kind: 'mesh',
  calls: CALLS,
  callsPerSecond: CALLS_PER_SECOND,
  tickets,
  warmMs,
  measureMs: JOIN_MS,
});
const pairs: Shape = { kind: 'pairs', pairs: 50, window: 8, warmMs: WARM_MS, measureMs: DIRECTED_MS };
const idle: Shape = { kind: 'idle', sockets: SOCKETS, settleMs: 2500, warmMs: 0, measureMs: 0 };
const herd: Shape = {
  kind: 'herd',
  calls: 300,
  callsPerSecond: 6,
  stayMs: [10_000, 30_000],
  gapMs: 500,
  // 50 s until the last call has begun, and 10 s for the herd to mix.
  warmMs: 60_000,
  measureMs: 30_000,
};

export const ROWS: readonly Row[] = [
  {
    name: 'join',
    title: `1. One join of a four-person call: 21 directed messages of 2500 or 180 B on the average, ${CALLS} calls at a time, at most ${4 * CALLS_PER_SECOND} joins/s`,
    unit: 'ms per join',
    variants: [
      { id: 'naive', label: 'naive ws (no admission)', server: 'naive', load: mesh(WARM_MS, 'asked') },
      {
        id: 'parley',
        label: 'Parley, the whole join',
        server: 'parley',
        load: mesh(PARLEY_WARM_MS, 'asked'),
      },
      { id: 'equal', label: 'equal work', server: 'equal', load: mesh(WARM_MS, 'asked') },
      { id: 'opaque', label: 'opaque ws (no admission)', server: 'opaque', load: mesh(WARM_MS, 'asked') },
      {
        id: 'parley-ticket',
        label: 'Parley, POST join alone',
        server: 'parley',
        load: { kind: 'tickets', lanes: CALLS, atLeast: TICKETS, warmMs: WARM_MS / 2, measureMs: TICKETS_MS },
      },
      {
        id: 'parley-socket',
        label: 'Parley, socket part alone',
        server: 'parley',
        load: mesh(PARLEY_WARM_MS, 'kept'),
      },
      {
        id: 'parley-2',
        label: 'Parley, two pods through NATS',
        server: 'parley-2',
        load: mesh(PARLEY_WARM_MS, 'asked'),
      },
    ],
  },
  {
    name: 'directed',
    title: '2. One directed message of 2000 B: 50 pairs, 8 on their way in each',
    unit: 'µs per message',
    variants: [
      { id: 'naive', label: 'naive ws', server: 'naive', load: pairs },
      { id: 'parley', label: 'Parley, one pod', server: 'parley', load: pairs },
      { id: 'opaque', label: 'opaque ws', server: 'opaque', load: pairs },
      { id: 'parley-2', label: 'Parley, two pods through NATS', server: 'parley-2', load: pairs },
    ],
  },
  {
    name: 'memory',
    title: `3. An idle connection: anonymous memory of a new server, ${2 * SOCKETS} sockets in calls of four`,
    unit: 'KB per connection',
    variants: [
      { id: 'naive', label: 'naive ws', server: 'naive', load: idle },
      { id: 'parley', label: 'Parley, one pod', server: 'parley', load: idle },
      { id: 'opaque', label: 'opaque ws', server: 'opaque', load: idle },
    ],
  },
  {
    name: 'herd',
    title: '4. Semi-thundering herd: 300 calls at 6 calls/s, everyone stays 10 to 30 s and comes back',
    unit: '% of a core',
    variants: [
      { id: 'naive', label: 'naive ws (no admission)', server: 'naive', load: herd },
      { id: 'parley', label: 'Parley, one pod', server: 'parley', load: herd },
      { id: 'opaque', label: 'opaque ws (no admission)', server: 'opaque', load: herd },
    ],
  },
];

/** Behind the variants of Parley, the same loads on an earlier commit's pods: tickets that are asked for are still used by the same pod. */
export function withEarlier(rows: readonly Row[], revision: string): readonly Row[] {
  return rows.map((row) => {
    const measured = row.name === 'join' || row.name === 'directed';
    const earlier = row.variants.flatMap((variant) => (measured ? earlierOf(variant, revision) : []));
    return { ...row, variants: [...row.variants, ...earlier] };
  });
}

function earlierOf({ id, label, server, load }: Variant, revision: string): Variant[] {
  if (server !== 'parley' && server !== 'parley-2') return [];
  return [
    { id: `${id}${EARLIER}`, label: `${label} (${revision})`, server: `${server}${EARLIER}` as const, load },
  ];
}

/** Only what the budgets compare. */
export function onlyBudgeted(rows: readonly Row[], budgets: readonly Budget[]): readonly Row[] {
  return rows.flatMap((row) => {
    const compared = budgets.filter(({ row: name }) => name === row.name);
    const ids: readonly string[] = compared.flatMap(({ variant, over }) => [variant, over]);
    if (ids.length === 0) return [];
    return [{ ...row, variants: row.variants.filter(({ id }) => ids.includes(id)) }];
  });
}
