import assert from 'node:assert/strict';
import test from 'node:test';
import type { Outcome } from '../src/job.ts';
import { ROWS, withEarlier } from '../src/plan.ts';
import { summarize } from '../src/summary.ts';
import { changesOf, tableOf } from '../src/table.ts';
import { GENERATOR_LIMIT, LATE_LIMIT_MS, judge } from '../src/verdict.ts';

interface Changes extends Partial<Outcome> {
  readonly generatorUse?: number;
  readonly generatorLateMs?: number;
  readonly serverMs?: number;
}

function outcome(changes: Changes): Outcome {
  const { generatorUse = 0.5, generatorLateMs = 1, serverMs = 500, ...rest } = changes;
  const servers = [{ name: 'naive-ws', userMs: serverMs, systemMs: 0 }];
  const spent = { wallMs: 1000, servers, generatorUse, generatorLateMs, othersUse: 0 };
  const counts = { sent: 210, received: 210, excused: 0, done: 10 };
  return { spent, ...counts, p50Ms: 1, p99Ms: 2, failures: [], ...rest };
}

test('a run is void when the generator used more than 80 % of its core', () => {
  assert.equal(judge(outcome({ generatorUse: GENERATOR_LIMIT })).verdict, 'valid');
  assert.equal(judge(outcome({ generatorUse: 0.81 })).verdict, 'void');
});

test('a run is void when the timers of the generator were late, unless it measured memory', () => {
  assert.equal(judge(outcome({ generatorLateMs: LATE_LIMIT_MS })).verdict, 'valid');
  const late = judge(outcome({ generatorLateMs: 140 }));
  assert.deepEqual(late, { verdict: 'void', why: 'the generator was 140 ms late' });
  assert.equal(judge(outcome({ generatorLateMs: 140, memoryKb: [[0], [1], [2]] })).verdict, 'valid');
});

test('a run fails when one message is missing, or came twice', () => {
  assert.equal(judge(outcome({ received: 209 })).verdict, 'failed');
  assert.equal(judge(outcome({ received: 211 })).verdict, 'failed');
});

test('a message to a participant that had left is no loss', () => {
  assert.equal(judge(outcome({ received: 207, excused: 3 })).verdict, 'valid');
});

test('a run fails when anything went wrong, or nothing was completed', () => {
  assert.equal(judge(outcome({ failures: ['a socket was lost'] })).verdict, 'failed');
  assert.equal(judge(outcome({ done: 0 })).verdict, 'failed');
});

test('one void round takes the figure away, and whatever is compared with it', () => {
  const [row] = ROWS;
  assert.ok(row);
  const run = (variant: string, round: number, generatorUse: number) => {
    const measured = outcome({ generatorUse });
    return { row: row.name, variant, round, outcome: measured, verdict: judge(measured) };
  };
  const table = tableOf(summarize(row, [run('naive', 1, 0.5), run('naive', 2, 0.9), run('parley', 1, 0.5)]));
  const lines = table.split('\n').filter((line) => /naive ws|whole join/.test(line));
  assert.equal(lines.length, 2);
  for (const line of lines) assert.match(line, / {2}VOID the generator used 90 % of its core$/);
});

test('ratios in a summary pair the rounds', () => {
  const [row] = ROWS;
  assert.ok(row);
  const run = (variant: string, round: number, serverMs: number) => {
    const measured = outcome({ serverMs });
    return { row: row.name, variant, round, outcome: measured, verdict: judge(measured) };
  };
  const runs = [run('naive', 1, 10), run('parley', 1, 20), run('naive', 2, 100), run('parley', 2, 300)];
  const { results } = summarize(row, runs);
  const parley = results.find(({ variant }) => variant === 'parley');
  assert.deepEqual(parley?.ratio, { median: 2.5, min: 2, max: 3 });
  assert.deepEqual(parley.cost, { median: 16, min: 2, max: 30 });
});

test('a variant is compared, round by round, with the same load on an earlier commit', () => {
  const [row] = withEarlier(ROWS, 'v1');
  assert.ok(row !== undefined);
  const run = (variant: string, round: number, serverMs: number) => {
    const measured = outcome({ serverMs });
    return { row: row.name, variant, round, outcome: measured, verdict: judge(measured) };
  };
  const runs = [
    ...row.variants.map(({ id }) => run(id, 1, id === 'parley' ? 330 : 300)),
    ...row.variants.map(({ id }) => run(id, 2, id === 'parley' ? 220 : 200)),
  ];
  const said = changesOf(summarize(row, runs));
  assert.deepEqual(said, [
    'Parley, the whole join: 1.10 (1.10-1.10) x the earlier commit',
    'Parley, POST join alone: 1.00 (1.00-1.00) x the earlier commit',
    'Parley, socket part alone: 1.00 (1.00-1.00) x the earlier commit',
    'Parley, two pods through NATS: 1.00 (1.00-1.00) x the earlier commit',
  ]);
});

test('tickets that a pod gave are used by the same pod', () => {
  for (const { variants } of withEarlier(ROWS, 'v1')) {
    const giver = new Map<number, string>();
    let last = '';
    for (const [at, { load, server }] of variants.entries()) {
      if (load.kind === 'tickets') last = server;
      if (load.kind === 'mesh' && load.tickets === 'kept') giver.set(at, last);
    }
    for (const [at, server] of giver) assert.equal(variants[at]?.server, server);
  }
});

test('an idle connection is compared with the naive server, round by round', () => {
  const row = ROWS.find(({ name }) => name === 'memory');
  assert.ok(row !== undefined);
  const run = (variant: string, round: number, memoryKb: readonly number[]) => {
    const measured = outcome({ done: 4000, memoryKb: memoryKb.map((kb) => [kb]) });
    return { row: row.name, variant, round, outcome: measured, verdict: judge(measured) };
  };
  const runs = [
    run('naive', 1, [10_000, 30_000, 46_000]),
    run('parley', 1, [50_000, 90_000, 102_000]),
    run('naive', 2, [10_000, 30_000, 50_000]),
    run('parley', 2, [50_000, 90_000, 114_000]),
  ];
  const { results } = summarize(row, runs);
  const parley = results.find(({ variant }) => variant === 'parley');
  assert.deepEqual(parley?.cost, { median: 14.5, min: 13, max: 16 });
  assert.deepEqual(parley.memory, {
    overNaive: { median: 5, min: 4, max: 6 },
    firstHalf: { median: 20, min: 20, max: 20 },
    secondHalf: { median: 9, min: 6, max: 12 },
  });
});
