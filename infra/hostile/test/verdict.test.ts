/** The verdict finds each fault of a call and of a process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ATTACKS } from '../src/attacks/all.ts';
import type { CallReport } from '../src/call/plan.ts';
import { USUAL_BOUNDS, judgeCall, judgeProcesses } from '../src/verdict.ts';

const moment = (ms: number) => ({ ms, at: 1000 });
const GOOD: CallReport = {
  seconds: 10,
  framesSent: 1000,
  framesReceived: 1000,
  gapMax: moment(200),
  gapP99Ms: 60,
  chatLines: 10,
  chatMax: moment(20),
  chatP50Ms: 5,
  disturbances: [],
  newcomers: 10,
  newcomerMax: moment(100),
  newcomerP50Ms: 50,
  newcomerFailures: [],
  ownDelayMaxMs: 30,
};

const wrongOf = (report: Partial<CallReport>): string[] =>
  judgeCall({ ...GOOD, ...report }, USUAL_BOUNDS, () => 'fragments').flatMap(({ name, wrong }) =>
    wrong === undefined ? [] : [name],
  );

test('a call that was not affected has no findings', () => {
  assert.deepEqual(wrongOf({}), []);
});

test('a stall of the measuring process counts for a second at most', () => {
  assert.deepEqual(wrongOf({ gapMax: moment(1500), ownDelayMaxMs: 600 }), []);
  assert.deepEqual(wrongOf({ gapMax: moment(2500), ownDelayMaxMs: 5000 }), ['call-frames']);
});

test('each fault of a call is found', () => {
  assert.deepEqual(wrongOf({ gapMax: moment(1500) }), ['call-frames']);
  assert.deepEqual(wrongOf({ framesReceived: 0 }), ['call-frames']);
  assert.deepEqual(wrongOf({ framesReceived: 900 }), ['call-frames']);
  assert.deepEqual(wrongOf({ chatMax: moment(1500) }), ['call-chat']);
  assert.deepEqual(wrongOf({ chatLines: 0 }), ['call-chat']);
  assert.deepEqual(wrongOf({ disturbances: ['p1 is away'] }), ['call-undisturbed']);
  assert.deepEqual(wrongOf({ newcomerMax: moment(1500) }), ['call-newcomers']);
  assert.deepEqual(wrongOf({ newcomerFailures: ['socket hang up'] }), ['call-newcomers']);
  assert.deepEqual(wrongOf({ newcomers: 0 }), ['call-newcomers']);
});

test('a process that restarted, grew or logged too much is found', () => {
  const state = { pid: 1, startTicks: 5, rssMb: 100, logBytes: 10 };
  const wrong = (after: Partial<typeof state>, maxMb = 100): string[] =>
    judgeProcesses(
      { 'signaling-1': state },
      { 'signaling-1': { ...state, ...after } },
      new Map([['signaling-1', maxMb]]),
      USUAL_BOUNDS,
    ).flatMap(({ name, wrong }) => (wrong === undefined ? [] : [name]));
  assert.deepEqual(wrong({}), []);
  assert.deepEqual(wrong({ startTicks: 6 }), ['no-restarts']);
  assert.deepEqual(wrong({}, 600), ['memory-bounded']);
  assert.deepEqual(wrong({ logBytes: 100_000_000 }), ['logs-bounded']);
});

test('attacks have names of their own', () => {
  const names = ATTACKS.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});
