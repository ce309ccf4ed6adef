import assert from 'node:assert/strict';
import test from 'node:test';
import type { Outcome } from '../src/rooms/outcome.ts';
import { picture } from '../src/rooms/picture.ts';
import { scaling, searched, type Relays } from '../src/rooms/plan.ts';
import { largest, ratioOf, type Run } from '../src/rooms/summary.ts';
import { doubtsOf, ratioText, tableOf } from '../src/rooms/table.ts';
import { isUnimpaired, judge, saturated } from '../src/rooms/verdict.ts';

const GOOD: Outcome = {
  window: { beganMs: 0, endedMs: 10_000, seconds: 10, deliveriesPerSecond: 3000, megabitsPerSecond: 5 },
  pictures: { expected: 1000, delivered: 1000 },
  voices: { expected: 500, delivered: 500 },
  loss: { share: 0, p50: 0, p95: 0, max: 0 },
  corrupt: 0,
  duplicated: 0,
  outOfOrder: 0,
  extra: 0,
  closed: 0,
  delayMs: { p50: 1, p95: 2, p99: 3 },
  rttMs: { p50: 0.5, p95: 0.7 },
  jitterMs: { mean: 0.3, p50: 0.2, p95: 0.4 },
  freezes: { count: 0, longestMs: 0 },
  lateJoins: 0,
  relays: { 'h:1': 10 },
  generator: { share: 0.5 },
  exact: true,
  uses: [{ name: 'relay-1', cpu: 0.2, throttled: 0, residentMb: 50 }],
  othersUse: 0,
};

const run = (participants: number, relays: Relays, changes: Partial<Outcome> = {}): Run => {
  const step = searched(participants, relays);
  const used = relays === 1 ? { 'h:1': participants } : { 'h:1': participants / 2, 'h:2': participants / 2 };
  const outcome = { ...GOOD, relays: used, ...changes };
  return { step, outcome, verdict: judge(outcome, step) };
};

const lossy = { loss: { share: 0.0051, p50: 0, p95: 0, max: 0 } };

test('loss, freezes and late joins are results; frames that were never sent and lost sessions are failures', () => {
  assert.equal(run(20, 1).verdict.verdict, 'valid');
  assert.equal(run(20, 1, lossy).verdict.verdict, 'valid');
  for (const name of ['corrupt', 'duplicated', 'outOfOrder', 'extra', 'closed'] as const) {
    assert.deepEqual(run(20, 1, { [name]: 2 }).verdict, { verdict: 'failed', why: `2 ${name}` });
  }
  assert.equal(run(20, 1, { pictures: { expected: 0, delivered: 0 } }).verdict.verdict, 'failed');
});

test('a run on two relays that used one is none', () => {
  assert.equal(run(20, 2).verdict.verdict, 'valid');
  const { verdict } = run(20, 2, { relays: { 'h:1': 20 } });
  assert.deepEqual(verdict, { verdict: 'failed', why: '1 relays were used instead of 2' });
});

test('a run is void when the generator used more than 80 % of its core, and when that is not known', () => {
  assert.equal(run(20, 1, { generator: { share: 0.8 } }).verdict.verdict, 'valid');
  assert.equal(run(20, 1, { generator: { share: 0.81 } }).verdict.verdict, 'void');
  assert.equal(run(20, 1, { generator: { share: Number.NaN } }).verdict.verdict, 'void');
});

test('a load is sustained with at most one frame in 200 lost, no freeze, and all participants joined in time', () => {
  assert.ok(isUnimpaired({ ...GOOD, loss: { ...GOOD.loss, share: 0.005 } }));
  assert.ok(!isUnimpaired({ ...GOOD, ...lossy }));
  assert.ok(!isUnimpaired({ ...GOOD, freezes: { count: 1, longestMs: 501 } }));
  assert.ok(!isUnimpaired({ ...GOOD, lateJoins: 1 }));
});

test('the exhausted resource is the one with the largest share of its own limit', () => {
  const use = (cpu: number) => ({ ...GOOD, uses: [{ name: 'relay-1', cpu, throttled: 0, residentMb: 1 }] });
  assert.equal(saturated(use(0.28), searched(20, 1)), 'relay-1');
  assert.equal(saturated(use(0.1), searched(20, 1)), 'nothing');
  assert.equal(
    saturated({ ...use(0.3), generator: { share: 0.9 } }, searched(20, 1)),
    'relay-1 and generator',
  );
});

test('the largest load is the last before the first that was not sustained, whatever came after', () => {
  const climbed = [run(24, 1), run(18, 1), run(21, 1, lossy), run(27, 1), run(60, 2)];
  assert.equal(largest(climbed, 1), 18);
  assert.equal(largest(climbed, 2), 60);
  assert.equal(largest([run(18, 1, lossy)], 1), 0);
  assert.equal(largest([run(18, 1), run(21, 1, { generator: { share: 0.9 } })], 1), 18);
});

test('the ratio is that of the largest loads, and none without both', () => {
  const missed = ratioOf([run(20, 1), run(35, 2), run(36, 2, lossy)]);
  assert.deepEqual(missed, { one: 20, two: 35, ratio: 1.75, reached: false, isCut: false });
  assert.match(
    ratioText(missed),
    /15 % of a processor: one carries 20 people, two 35: x 1\.75, goal 1\.8: MISSED$/,
  );
  const reached = ratioOf([run(20, 1), run(36, 2), run(38, 2, { generator: { share: 0.9 } })]);
  assert.ok(reached.reached && reached.isCut);
  assert.match(ratioText(reached), /reached; the generator was saturated/);
  const none = ratioOf([run(20, 1)]);
  assert.ok(!none.reached && Number.isNaN(none.ratio));
  assert.match(ratioText(none), /no result/);
});

test('void and failed runs are shown as that', () => {
  const runs = [run(20, 1), run(20, 2, { generator: { share: 0.9 } })];
  const table = tableOf('t', runs);
  assert.match(table, /VOID: the generator used 90 % of its core/);
  assert.match(table, /150 kbit\/s, 10 fps {2,}16/);
  const svg = picture(runs, { foot: 'a & b' });
  assert.equal(svg.match(/fill="#fff" stroke=/g)?.length, 3, 'hollow in each panel');
  assert.match(svg, /a &amp; b/);
  assert.doesNotMatch(svg, /NaN|undefined/);
});

test('the thesis asked for 2, 10, 15 and 20 people who all see each other', () => {
  const steps = scaling(2).filter(({ tiles, participants }) => tiles === participants - 1);
  assert.deepEqual(
    steps.map(({ participants }) => participants),
    [2, 10, 15, 20],
  );
  assert.deepEqual(
    scaling(1).map(({ participants, cpu }) => [participants, cpu]),
    [2, 10, 15, 20, 50, 100].map((participants) => [participants, 1]),
  );
});

test('rooms during which other programs ran are named', () => {
  assert.deepEqual(doubtsOf([run(20, 1, { othersUse: 0.25 })]), []);
  const [doubt] = doubtsOf([run(20, 1), run(24, 2, { othersUse: 1.2 })]);
  assert.match(doubt ?? '', /up to 1\.20 cores during 24 on 2\./);
});
