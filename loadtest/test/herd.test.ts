import assert from 'node:assert/strict';
import test from 'node:test';
import { BYTES, readSignal, writeSignal, type Kind } from '../k6/lib/payload.ts';
import { othersAt, sizeOf, steadyOf, visitsOf } from '../k6/lib/plan.ts';
import { HERD_PROFILES, herdProfile } from '../k6/profiles/herd.ts';
import { judge } from '../k6/runner/report.ts';
import { useBetween } from '../k6/runner/watch.ts';

const { smoke } = HERD_PROFILES;

test('a signal has the size of its kind, and is read as it was written', () => {
  for (const kind of Object.keys(BYTES) as Kind[]) {
    const signal = { kind, count: 6, sentAt: 1_795_267_473_374 };
    const text = writeSignal(signal);
    assert.equal(text.length, BYTES[kind]);
    assert.deepEqual(readSignal(text), signal);
  }
});

test('a signal with one byte changed, missing or added is not read', () => {
  const text = writeSignal({ kind: 'candidate', count: 1, sentAt: 1_795_267_473_374 });
  for (let at = 0; at < text.length; at += 1) {
    // Another digit may replace one: the count and the time are checked by the participant that knows them.
    if (/\d/.test(text.charAt(at))) continue;
    assert.equal(readSignal(`${text.slice(0, at)}~${text.slice(at + 1)}`), undefined, `byte ${at}`);
    assert.equal(readSignal(text.slice(0, at) + text.slice(at + 1)), undefined, `without byte ${at}`);
  }
  assert.equal(readSignal(`${text} `), undefined);
});

test('every VU computes the same plan, with stays of the profile and no participant in two places', () => {
  const visits = visitsOf(smoke, 7, 2);
  assert.deepEqual(visitsOf(smoke, 7, 2), visits);
  assert.notDeepEqual(visitsOf(smoke, 7, 3), visits);
  visits.forEach(({ startMs, endMs }, at) => {
    const stay = endMs - startMs;
    assert.ok(stay >= smoke.stayMs[0] && stay <= smoke.stayMs[1], `stays ${stay} ms`);
    const next = visits[at + 1];
    if (next !== undefined) assert.equal(next.startMs, endMs + smoke.gapMs);
  });
});

test('those expected in a call are the ones who have come and not gone', () => {
  const [visit] = visitsOf(smoke, 3, 0);
  assert.ok(visit);
  const before = Math.min(...[0, 1, 2, 3].map((seat) => visitsOf(smoke, 3, seat)[0]?.startMs ?? 0)) - 1;
  assert.deepEqual(othersAt(smoke, visit, before), []);
  const others = othersAt(smoke, visit, steadyOf(smoke).startMs);
  assert.ok(others.every(({ seat, call }) => seat !== 0 && call === 3));
  assert.deepEqual(othersAt(smoke, visit, sizeOf(smoke).endMs), []);
});

test('in the steady part all calls have begun, and six begin in a second', () => {
  assert.deepEqual(steadyOf(herdProfile('seed')), { startMs: 51_000, endMs: 111_000 });
  assert.equal(sizeOf(herdProfile('seed')).people, 1200);
});

test('an unknown profile is refused with the names of those there are', () => {
  assert.throws(() => herdProfile('sed'), /"sed".*smoke, seed/);
});

const useOf = (k6: number) => ({ wallMs: 1000, cores: { k6 }, others: 0 });
const metric = (ok: boolean) => ({ values: { 'p(95)': 700 }, thresholds: { 'p(95)<500': { ok } } });

test('a crossed threshold fails the run, with the figure that crossed it', () => {
  assert.deepEqual(judge({ use: useOf(0.5), metrics: { join_ms: metric(true) } }), { verdict: 'valid' });
  assert.deepEqual(judge({ use: useOf(0.5), metrics: { join_ms: metric(false) } }), {
    verdict: 'failed',
    why: ['join_ms p(95)<500 (it is 700)'],
  });
});

test('a generator above 80 % of a core, or late, makes the run void, whatever else it shows', () => {
  assert.equal(judge({ use: useOf(0.81), metrics: { join_ms: metric(false) } }).verdict, 'void');
  assert.equal(judge({ use: useOf(Number.NaN), metrics: {} }).verdict, 'void');
  assert.equal(judge({ use: useOf(0.5), metrics: { late_ms: metric(false) } }).verdict, 'void');
});

test('what the known processes did not use was used by others', () => {
  const moment = (atMs: number, pods: number, machineMs: number) => ({
    atMs,
    machineMs,
    cpuMs: { pods },
    memoryKb: {},
  });
  assert.deepEqual(useBetween(moment(0, 100, 5000), moment(1000, 350, 6000)), {
    wallMs: 1000,
    cores: { pods: 0.25 },
    others: 0.75,
  });
});
