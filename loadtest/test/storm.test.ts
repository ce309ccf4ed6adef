import assert from 'node:assert/strict';
import test from 'node:test';
import { readLine, writeLine } from '../k6/lib/payload.ts';
import {
  arrivalOf,
  isStorm,
  roomOf,
  STORM_PROFILES,
  stormProfile,
  timesOf,
  type StormProfile,
} from '../k6/profiles/storm.ts';
import type { CrowdReport, Times } from '../k6/runner/crowd.ts';
import type { Metrics } from '../k6/runner/generator.ts';
import { startMeter } from '../k6/runner/meter.ts';
import { stormPicture, stormReport, useOf, type StormResult } from '../k6/runner/storm-report.ts';
import { judgeStorm, type StormOutcome } from '../k6/runner/storm-verdict.ts';

const names = Object.keys(STORM_PROFILES);

test('each profile has ten thousand people, most of them not k6, and a goal', () => {
  for (const name of names) {
    const { people, vus, goals, callSize } = stormProfile(name);
    assert.equal(people, 10_000, name);
    assert.ok(vus >= 1000 && vus <= 2000 && vus % callSize === 0, name);
    assert.ok(Object.keys(goals).length > 0, name);
  }
  const { calm, doors, reconnect } = STORM_PROFILES;
  assert.deepEqual([calm.vus / calm.callSize, calm.people - calm.vus], [500, 8000]);
  assert.deepEqual(
    [reconnect.goals, calm.goals.messageMs, doors.goals],
    [{ backMs: 10_000 }, 250, { answerMs: 2000 }],
  );
});

test('participants who come back are watched for longer than the grace period', () => {
  for (const name of names) {
    const { watchMs, arriveMs, settleMs } = stormProfile(name);
    assert.ok(watchMs > 30_000, name);
    assert.deepEqual(timesOf(stormProfile(name)), {
      eventMs: arriveMs + settleMs,
      endMs: arriveMs + settleMs + watchMs,
    });
  }
});

test('a scaled profile has whole calls, which arrive at the same rate', () => {
  const full = stormProfile('reconnect');
  const tenth = stormProfile('reconnect', 0.1);
  assert.deepEqual([tenth.people, tenth.vus, tenth.arriveMs], [1000, 100, full.arriveMs / 10]);
  const least = stormProfile('calm', 0.0001);
  assert.deepEqual([least.people, least.vus], [8, 4]);
  assert.equal(arrivalOf(tenth, 50), tenth.arriveMs / 2);
  for (const scale of [0, 1.5, Number.NaN])
    assert.throws(() => stormProfile('reconnect', scale), /HERD_SCALE/);
  assert.throws(() => stormProfile('smoke'), /"smoke"/);
  assert.ok(isStorm('doors') && !isStorm('smoke') && !isStorm('toString'));
});

test('rooms are those of ROOM-1, the same in each process, and different from call to call', () => {
  const rooms = Array.from({ length: 2500 }, (_, call) => roomOf(1, call));
  assert.ok(rooms.every((room) => /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/.test(room)));
  assert.equal(new Set([...rooms, ...rooms.map((_, call) => roomOf(2, call))]).size, 5000);
  assert.equal(roomOf(1, 7), rooms[7]);
});

test('a line is read as it was written, and not where one byte is changed, missing or added', () => {
  const line = { count: 12, sentAt: 1_795_267_473_374 };
  const text = writeLine(line);
  assert.equal(text.length, 1000);
  assert.deepEqual(readLine(text), line);
  for (let at = 0; at < text.length; at += 1) {
    if (/\d/.test(text.charAt(at))) continue;
    assert.equal(readLine(`${text.slice(0, at)}~${text.slice(at + 1)}`), undefined, `byte ${at}`);
    assert.equal(readLine(text.slice(0, at) + text.slice(at + 1)), undefined, `without byte ${at}`);
  }
});

const times = (p99: number, count = 4500): Times => ({ count, p50: p99, p95: p99, p99, max: p99 });
const quietCrowd: CrowdReport = {
  people: 9000,
  present: { here: 9000, away: 0, waiting: 0, arriving: 0, full: 0, gone: 0 },
  answers: { tickets: 9000, slots: 0, full: 0, refused: 0 },
  answerMs: times(50),
  joinMs: times(80),
  backMs: times(3000),
  waits: 0,
  losses: { SOCKET_LOST: 4500 },
  refusals: { NOT_READY: 12 },
  errors: {},
  lost: 0,
  lateMs: times(5),
  generator: { cpuSeconds: 20, share: 0.3 },
  exact: true,
  void: false,
};
const counter = (count: number): Metrics[string] => ({ values: { count } });
const outcome = (profile: StormProfile, more: Partial<StormOutcome> = {}): StormOutcome => ({
  profile,
  metrics: { losses: counter(500) },
  crowd: quietCrowd,
  before: [5000, 5000],
  atEnd: 10_000,
  k6Use: 0.4,
  ...more,
});
const whyOf = (of: StormOutcome): string => {
  const verdict = judgeStorm(of);
  return verdict.verdict === 'valid' ? 'valid' : `${verdict.verdict}: ${verdict.why.join('; ')}`;
};
const crowdWith = (more: Partial<CrowdReport>): { crowd: CrowdReport } => ({
  crowd: { ...quietCrowd, ...more },
});

test('reconnect: the people of the killed pod, and no others, are back within the goal', () => {
  const reconnect = stormProfile('reconnect');
  assert.equal(whyOf(outcome(reconnect)), 'valid');
  const wrong: [Partial<StormOutcome>, RegExp][] = [
    [{ before: [4000, 6000] }, /failed: 5000 sockets were lost, and 4000 people were on the pod/],
    [{ atEnd: 9999 }, /failed: 9999 of 10000 are in their rooms/],
    [crowdWith({ backMs: times(10_000) }), /failed: the crowd was back after p99 10000 ms, not within 10000/],
    [crowdWith({ backMs: times(0, 0) }), /failed: none of the crowd was back/],
    [crowdWith({ lost: 1 }), /failed: 1 of the crowd lost/],
    [crowdWith({ errors: { RESUME_EXPIRED: 2 } }), /failed: 2 errors RESUME_EXPIRED/],
    [crowdWith({ refusals: { POD_FULL: 3 } }), /failed: 3 refusals POD_FULL/],
    [
      {
        metrics: {
          losses: counter(500),
          errors: { values: { count: 1 }, thresholds: { 'count==0': { ok: false } } },
        },
      },
      /failed: errors count==0 \(it is 1/,
    ],
  ];
  for (const [more, why] of wrong) assert.match(whyOf(outcome(reconnect, more)), why);
});

test('calm: every message of a call arrives, while the others come back', () => {
  const calm = stormProfile('calm');
  const metrics = (sent: number, received: number): Partial<StormOutcome> => ({
    metrics: { messages_sent: counter(sent), messages_received: counter(received) },
  });
  assert.equal(whyOf(outcome(calm, metrics(40_000, 40_000))), 'valid');
  assert.match(whyOf(outcome(calm, metrics(40_000, 39_999))), /failed: 39999 of 40000 messages arrived/);
  assert.match(whyOf(outcome(calm, metrics(0, 0))), /failed: 0 of 0/);
});

test('deploy and region: all may lose a socket, more than once, and are back', () => {
  const crowd = crowdWith({ losses: { GOAWAY: 13_000 } });
  for (const name of ['deploy', 'region']) {
    assert.equal(whyOf(outcome(stormProfile(name), crowd)), 'valid');
    assert.match(whyOf(outcome(stormProfile(name), { ...crowd, atEnd: 0 })), /failed: 0 of 10000/);
  }
});

test('doors: all are in, or were answered that the room is full, and soon', () => {
  const doors = stormProfile('doors');
  const present = { ...quietCrowd.present, here: 90, full: 8910 };
  const metrics = { joins: counter(10), full: counter(990) };
  const answered = crowdWith({ present, losses: {}, refusals: {} });
  assert.equal(whyOf(outcome(doors, { metrics, ...answered, atEnd: 100 })), 'valid');
  const slow = crowdWith({ present, refusals: {}, answerMs: times(2000) });
  assert.match(
    whyOf(outcome(doors, { metrics, ...slow })),
    /failed: the crowd was answered after p99 2000 ms/,
  );
  const unanswered = crowdWith({ present: { ...present, full: 8909, waiting: 1 }, refusals: {} });
  assert.match(whyOf(outcome(doors, { metrics, ...unanswered })), /failed: 9999 of 10000 are in/);
  const silent = crowdWith({ present, refusals: { NO_ANSWER: 1 } });
  assert.match(whyOf(outcome(doors, { metrics, ...silent })), /failed: 1 refusals NO_ANSWER/);
  const limited = crowdWith({ present, refusals: { TOO_MANY_JOINS: 5 } });
  assert.match(whyOf(outcome(doors, { metrics, ...limited })), /failed: 5 refusals TOO_MANY_JOINS/);
});

test('a generator that was late or busy makes a run void, whatever else it shows', () => {
  const reconnect = stormProfile('reconnect');
  const late = crowdWith({ void: true, lateMs: times(101), lost: 1 });
  assert.match(
    whyOf(outcome(reconnect, late)),
    /void: the crowd was late \(p95 101 ms\).*1 of the crowd lost/,
  );
  assert.match(whyOf(outcome(reconnect, { k6Use: 0.81 })), /void: k6 used 81/);
  assert.match(whyOf(outcome(reconnect, { k6Use: Number.NaN })), /void/);
  const metrics = {
    losses: counter(500),
    late_ms: { values: {}, thresholds: { 'p(95)<100': { ok: false } } },
  };
  assert.match(whyOf(outcome(reconnect, { metrics })), /void: late_ms/);
});

test('what a process used until it was killed still counts', (context) => {
  const used = new Map([[1, 100]]);
  const meter = startMeter((pid) => {
    const ms = used.get(pid);
    if (ms === undefined) throw new Error('no such process');
    return ms;
  });
  context.after(() => meter.close());
  meter.add('pods', 1);
  used.set(1, 300);
  const before = meter.read();
  used.delete(1);
  used.set(2, 50);
  meter.add('pods', 2);
  const after = meter.read();
  assert.deepEqual([before.cpuMs, after.cpuMs], [{ pods: 300 }, { pods: 350 }]);
});

test('the report has the cost of each part for 1,000 people, and its picture is an SVG', () => {
  const reading = (atMs: number, pods: number) => ({
    atMs,
    cpuMs: { pods, NATS: 0, Envoy: 0 },
    machineMs: atMs,
  });
  const use = useOf([
    reading(0, 0),
    reading(40_000, 10_000),
    reading(50_000, 12_000),
    reading(85_000, 32_000),
  ]);
  assert.deepEqual(
    [use.arrival.cpuMs['pods'], use.steady.cores['pods'], use.event.cpuMs['pods']],
    [10_000, 0.2, 20_000],
  );
  const { profile, metrics, crowd, before, atEnd } = outcome(stormProfile('reconnect'));
  const result: StormResult = {
    name: 'reconnect',
    scale: 1,
    profile,
    limits: {},
    use,
    before,
    atEnd,
    metrics,
    crowd,
    progress: [],
  };
  // 10 s for 10,000 people are 1 s for 1,000; 20 % of a core are 2 %; 20 s are 2 s, of 35.
  assert.match(stormReport(result), /^pods +1\.00 +2\.00 % +2\.00 +57\.1 %$/m);
  assert.match(stormPicture(result), /^<svg /);
});
