import assert from 'node:assert/strict';
import test from 'node:test';
import { doubtsOf, panelOf } from '../src/comparison.ts';
import { plot } from '../src/plot.ts';
import type { Outcome } from '../src/streams/outcome.ts';
import { ROWS, type ServerName } from '../src/streams/plan.ts';
import { costOf, summarize, type Run } from '../src/streams/summary.ts';
import { REFERENCE, tableOf } from '../src/streams/table.ts';
import { judge } from '../src/streams/verdict.ts';
import { GENERATOR_LIMIT } from '../src/verdict.ts';

const EXACT: Outcome = {
  topics: 1,
  expected: 3000,
  delivered: 3000,
  missing: 0,
  duplicated: 0,
  corrupt: 0,
  outOfOrder: 0,
  extra: 0,
  closed: 0,
  unsent: 0,
  steady: { seconds: 1, delivered: 2000, bytes: 200_000 },
  latencyMs: { p50: 1, p99: 2 },
  generator: { share: 0.5 },
  server: { cpuSeconds: 0.01, residentKb: 5000 },
  othersUse: 0,
};

test('every message once, whole, in order and as it was sent is a result', () => {
  assert.equal(judge(EXACT).verdict, 'valid');
});

test('a run fails for one message that is missing, twice, bent, late or too many, or one socket that ended', () => {
  for (const name of ['missing', 'duplicated', 'corrupt', 'outOfOrder', 'extra', 'closed'] as const) {
    assert.deepEqual(judge({ ...EXACT, [name]: 1 }), { verdict: 'failed', why: `1 ${name}` });
  }
  assert.equal(judge({ ...EXACT, delivered: 2999 }).verdict, 'failed');
  assert.equal(judge({ ...EXACT, expected: 0, delivered: 0 }).verdict, 'failed');
});

test('each publisher may owe the message of the last moment, and no more', () => {
  assert.equal(judge({ ...EXACT, unsent: 1 }).verdict, 'valid');
  assert.equal(judge({ ...EXACT, unsent: 2 }).verdict, 'failed');
});

test('a run is void when the generator used more than 80 % of its core, and when that is not known', () => {
  assert.equal(judge({ ...EXACT, generator: { share: GENERATOR_LIMIT } }).verdict, 'valid');
  assert.equal(judge({ ...EXACT, generator: { share: 0.81 } }).verdict, 'void');
  assert.equal(judge({ ...EXACT, generator: { share: Number.NaN } }).verdict, 'void');
});

const [video, small] = [ROWS[0], ROWS[4]];
assert.ok(video && small);

const run = (server: ServerName, round: number, cpuSeconds: number, changes: Partial<Outcome> = {}): Run => {
  const outcome = { ...EXACT, ...changes, server: { cpuSeconds, residentKb: 5000 } };
  return { row: video.name, server, round, outcome, verdict: judge(outcome) };
};

test('cost is processor time over payload for video, over deliveries for small messages', () => {
  assert.equal(costOf(video, EXACT), 50);
  assert.equal(costOf(small, EXACT), 5);
});

test('ratios to the floor pair the rounds, and the goal is judged by their median', () => {
  const runs = [
    run('floor', 1, 0.01),
    run('parley', 1, 0.0105),
    run('floor', 2, 0.03),
    run('parley', 2, 0.06),
    run('floor', 3, 0.02),
    run('parley', 3, 0.021),
  ];
  const summary = summarize(video, runs);
  const parley = summary.results.find(({ server }) => server === 'parley');
  assert.deepEqual(parley?.ratio, { median: 1.05, min: 1.05, max: 2 });
  assert.match(tableOf(summary), /goal: at most 1\.1 x floor; reached/);
  assert.match(tableOf(summarize(video, runs.slice(2, 4))), /MISSED/);
  assert.match(plot([panelOf(summary, REFERENCE)], { label: '', foot: '' }), /\(1\.05 x floor\)/);
});

test('a failed round takes the figure away, and a failed floor all that is compared with it', () => {
  const failed = run('floor', 1, 0.01, { corrupt: 1 });
  const table = tableOf(summarize(video, [failed, run('parley', 1, 0.01)]));
  for (const label of ['epoll floor', 'Parley'])
    assert.match(table, new RegExp(`${label} +FAILED 1 corrupt`));
  assert.match(table, /floor; no result/);
});

test('a busy machine is a reason for doubt', () => {
  const quiet = summarize(video, [run('floor', 1, 0.01, { othersUse: 0.2 })]);
  const busy = summarize(video, [run('floor', 1, 0.01, { othersUse: 1.2 })]);
  assert.deepEqual(doubtsOf([quiet]), []);
  assert.match(doubtsOf([busy])[0] ?? '', /video-1-to-100.*up to 1\.20 cores/);
});
