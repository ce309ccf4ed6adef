import assert from 'node:assert/strict';
import test from 'node:test';
import { doubtsOf, panelOf } from '../src/comparison.ts';
import type { Outcome } from '../src/media/outcome.ts';
import { picture, type Quantiles } from '../src/media/picture.ts';
import { ROWS, type ServerName } from '../src/media/plan.ts';
import { costOf, memoryOf, summarize, type Run } from '../src/media/summary.ts';
import { REFERENCE, tableOf } from '../src/media/table.ts';
import { isExact, judge } from '../src/media/verdict.ts';
import { plot } from '../src/plot.ts';

const EXACT: Outcome = {
  expected: 3000,
  delivered: 3000,
  missing: 0,
  duplicated: 0,
  outOfOrder: 0,
  corrupt: 0,
  extra: 0,
  skippedGroups: 0,
  freezes: 0,
  closed: 0,
  steady: { seconds: 1, delivered: 2000, bytes: 200_000 },
  latencyMs: { p50: 1, p99: 2 },
  generator: { share: 0.5 },
  server: { cpuSeconds: 0.01, residentKb: 5000 },
  othersUse: 0,
};

test('every frame once, whole and in order is a result', () => {
  assert.equal(judge(EXACT).verdict, 'valid');
  assert.ok(isExact(EXACT));
});

test('a run fails for one frame that is twice, late, bent or too many, and for one session that was lost', () => {
  for (const name of ['duplicated', 'outOfOrder', 'corrupt', 'extra', 'closed'] as const) {
    assert.deepEqual(judge({ ...EXACT, [name]: 1 }), { verdict: 'failed', why: `1 ${name}` });
    assert.ok(!isExact({ ...EXACT, [name]: 1 }));
  }
  assert.equal(judge({ ...EXACT, expected: 0, delivered: 0 }).verdict, 'failed');
});

test('a frame may be missing only with a group that was skipped, and then one in a hundred; in a smoke run none', () => {
  const missing = (count: number, skippedGroups: number): Outcome => ({
    ...EXACT,
    delivered: EXACT.expected - count,
    missing: count,
    skippedGroups,
  });
  assert.equal(judge(missing(1, 0)).verdict, 'failed');
  assert.equal(judge(missing(30, 1)).verdict, 'valid');
  assert.equal(judge(missing(31, 1)).verdict, 'failed');
  assert.ok(!isExact(missing(1, 1)));
});

test('a run is void when the generator used more than 80 % of its core, and when that is not known', () => {
  assert.equal(judge({ ...EXACT, generator: { share: 0.8 } }).verdict, 'valid');
  assert.equal(judge({ ...EXACT, generator: { share: 0.81 } }).verdict, 'void');
  assert.equal(judge({ ...EXACT, generator: { share: Number.NaN } }).verdict, 'void');
});

const rowOf = (name: string) => {
  const row = ROWS.find((one) => one.name === name);
  assert.ok(row);
  return row;
};

const run = (row: string, server: ServerName, round: number, changes: Partial<Outcome> = {}): Run => {
  const outcome = { ...EXACT, ...changes };
  return { row, server, round, outcome, verdict: judge(outcome) };
};
const using = (cpuSeconds: number): Partial<Outcome> => ({ server: { cpuSeconds, residentKb: 5000 } });

test('cost is processor time over payload, over packets for audio, and the median delay through relays', () => {
  assert.equal(costOf(rowOf('video-1-to-30'), EXACT), 50);
  assert.equal(costOf(rowOf('audio-10-to-20'), EXACT), 5);
  assert.equal(costOf(rowOf('relays-3'), EXACT), 1);
});

test('the goal is judged by the median of paired rounds, and for audio by what a packet may cost as well', () => {
  const rounds = (row: string, pairs: readonly (readonly [stock: number, parley: number])[]): string => {
    const both = ([stock, parley]: readonly [number, number], at: number): Run[] => [
      run(row, 'stock', at, using(stock)),
      run(row, 'parley', at, using(parley)),
    ];
    return tableOf(summarize(rowOf(row), pairs.flatMap(both)));
  };
  const fast = [
    [0.02, 0.01],
    [0.04, 0.05],
    [0.02, 0.01],
  ] as const;
  assert.match(rounds('video-1-to-30', fast), /goal: at most 1 x stock; reached/);
  assert.match(rounds('video-1-to-30', fast.slice(1, 2)), /MISSED/);
  assert.match(rounds('audio-10-to-20', fast), /goal: at most 1 x stock and 11 CPU µs per packet; reached/);
  assert.match(rounds('audio-10-to-20', [[0.2, 0.1]]), /MISSED/);
});

test('the memory of one more watcher is the difference between two rows', () => {
  const summaries = [
    ['video-1-to-100', 30_000],
    ['video-1-to-300', 50_000],
  ].map(([row, residentKb]) =>
    summarize(rowOf(String(row)), [
      run(String(row), 'parley', 1, { server: { cpuSeconds: 1, residentKb: Number(residentKb) } }),
    ]),
  );
  assert.deepEqual(memoryOf(summaries), [{ label: 'Parley', kbPerWatcher: 100 }]);
  assert.deepEqual(memoryOf(summaries.slice(1)), []);
});

test('without the stock relay there is a table and no result', () => {
  const summary = summarize(rowOf('room-10'), [run('room-10', 'parley', 1)]);
  assert.deepEqual(
    summary.results.map(({ server }) => server),
    ['parley'],
  );
  assert.match(tableOf(summary), /no result/);
});

test('a failed round takes the figure away, and a busy machine is a reason for doubt', () => {
  const failed = run('room-10', 'stock', 1, { corrupt: 1 });
  const summary = summarize(rowOf('room-10'), [failed, run('room-10', 'parley', 1, { othersUse: 1.2 })]);
  assert.match(tableOf(summary), /stock moq-relay +FAILED 1 corrupt/);
  assert.match(doubtsOf([summary])[0] ?? '', /room-10.*up to 1\.20 cores/);
  assert.match(plot([panelOf(summary, REFERENCE)], { label: '', foot: '' }), /x stock/);
});

test('a report of one load is drawn with the latest watchers first', () => {
  const quantiles = (p50: number): Quantiles => ({ p50, p95: p50, p99: 2 * p50, max: 3 * p50 });
  const watcher = (p50: number, missing = 0) => ({
    relay: 'https://127.0.0.1:4443/',
    missing,
    freezes: 0,
    latencyMs: quantiles(p50),
  });
  const svg = picture({
    expected: 100,
    delivered: 97,
    skippedGroups: 1,
    freezes: 0,
    steady: { seconds: 10, megabitsPerSecond: 3 },
    latencyMs: quantiles(1),
    firstFrameMs: null,
    rttMs: quantiles(1),
    jitterMs: quantiles(1),
    each: [...Array.from({ length: 25 }, () => watcher(1)), watcher(7, 3)],
  });
  assert.match(svg, /the latest 20 of 26/);
  assert.match(svg, /25 at 127\.0\.0\.1:4443.*7\.00, 14\.0 {2}\(3 missing, 0 freezes\).*0 at/s);
  assert.doesNotMatch(svg, /First frame|NaN/);
});
