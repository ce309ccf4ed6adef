import assert from 'node:assert/strict';
import test from 'node:test';
import type { Outcome, Path, Traffic } from '../src/regions/outcome.ts';
import { sessionRttMs, together } from '../src/regions/outcome.ts';
import { scenarios } from '../src/regions/scenarios.ts';
import { copiesTable, panelsOf, pathsTable, topicTable, type Row } from '../src/regions/table.ts';
import { thesisPicture } from '../src/regions/thesis-picture.ts';
import { thesisTable } from '../src/regions/thesis-table.ts';
import { figuresOf, loadOf, PEOPLE, THESIS, topologies, type ThesisRun } from '../src/regions/thesis.ts';
import type { Topic } from '../src/regions/topic.ts';
import {
  broken,
  brokenByTopic,
  copiesOf,
  judge,
  networkMs,
  pinnedCopies,
  wireCopiesOf,
} from '../src/regions/verdict.ts';
import { plot } from '../src/plot.ts';

const path = (from: string, to: string, changes: Partial<Path> = {}): Path => ({
  from,
  to,
  frames: 100,
  latencyMs: { p50: 1, p95: 2 },
  meanMs: 1,
  jitterMs: 0.5,
  ...changes,
});

const NONE = { published: 0, watched: 0, arrived: 0, sent: {} };
const TRAFFIC: Traffic = {
  eu: { published: 1000, watched: 50_000, arrived: 0, sent: { us: 1200, ap: 30 } },
  us: { ...NONE, arrived: 1050 },
  ap: NONE,
};

const GOOD: Outcome = {
  beganMs: 0,
  endedMs: 20_000,
  expected: 1000,
  delivered: 1000,
  missing: 0,
  corrupt: 0,
  duplicated: 0,
  outOfOrder: 0,
  extra: 0,
  closed: 0,
  paths: [
    path('eu', 'eu'),
    path('eu', 'us', { meanMs: 47 }),
    path('us', 'eu', { meanMs: 49 }),
    path('us', 'us'),
  ],
  each: [{ rttMs: 20 }, { rttMs: 40 }, { rttMs: null }],
  generator: { share: 0.2 },
  traffic: TRAFFIC,
  othersUse: 0,
};

const session = { name: 'session' };
const ocean = { name: 'broadcast', ocean: ['eu', 'us'] as const };

test('copies are bytes over links per published byte; of a pinned session, all bytes that are watched', () => {
  assert.equal(copiesOf(GOOD, ['eu', 'us']), 1.05);
  assert.equal(pinnedCopies(GOOD, ['eu', 'us']), 50);
  assert.equal(wireCopiesOf(GOOD, ['eu', 'us']), 1.2);
});

test('more than 1.1 copies over the ocean break the promise, and so do copies that are not known', () => {
  const arrived = (bytes: number): Outcome => ({
    ...GOOD,
    traffic: { ...TRAFFIC, us: { ...NONE, arrived: bytes } },
  });
  assert.deepEqual(broken(ocean, arrived(1100)), []);
  assert.deepEqual(broken(ocean, arrived(1110)), ['broadcast: 1.11 copies from eu to us']);
  assert.equal(broken(ocean, arrived(Number.NaN)).length, 1);
});

test('within a region the network has no delay: p95 of 5 ms and jitter below 10 ms are promised', () => {
  assert.deepEqual(broken(session, GOOD), []);
  const eu = (changes: Partial<Path>): string[] =>
    broken(session, { ...GOOD, paths: [path('eu', 'eu', changes), path('eu', 'us', { jitterMs: 50 })] });
  assert.deepEqual(eu({ latencyMs: { p50: 1, p95: 5 } }), []);
  assert.deepEqual(eu({ latencyMs: { p50: 1, p95: 5.1 } }), ['session: p95 within eu 5.10 ms']);
  assert.deepEqual(eu({ jitterMs: 10 }), ['session: jitter within eu 10.0 ms']);
  assert.deepEqual(broken(session, { ...GOOD, paths: [] }), ['session: no frames within a region']);
});

test('the network one way is half of the round trip of the links, and nothing within a region', () => {
  assert.deepEqual([networkMs(path('eu', 'eu')), networkMs(path('eu', 'ap'))], [0, 75]);
});

test('a run with lost sessions, altered frames or a hundredth of them missing has failed', () => {
  assert.equal(judge(GOOD).verdict, 'valid');
  assert.equal(judge({ ...GOOD, missing: 10 }).verdict, 'valid');
  for (const changes of [{ missing: 11 }, { closed: 1 }, { corrupt: 1 }, { expected: 0 }])
    assert.equal(judge({ ...GOOD, ...changes }).verdict, 'failed', JSON.stringify(changes));
  assert.equal(judge({ ...GOOD, generator: { share: 0.9 } }).verdict, 'void');
});

const reader = { readers: 4, extra: 0, p50: 46, p95: 48 };
const TOPIC: Topic = {
  messages: 100,
  bytes: 1000,
  readers: [
    { region: 'eu', ...reader, copies: undefined },
    { region: 'us', ...reader, copies: 1.05 },
  ],
};

test('a topic crosses 1.1 times at most, and each message arrives once', () => {
  assert.deepEqual(brokenByTopic(TOPIC), []);
  const us = (changes: object): string[] =>
    brokenByTopic({ ...TOPIC, readers: [{ region: 'us', ...reader, copies: 1.05, ...changes }] });
  assert.deepEqual(us({ copies: 1.2 }), ['topic: 1.20 copies to us']);
  assert.deepEqual(us({ extra: 2 }), ['topic: 2 deliveries too many in us']);
});

test('controls have the same clients in the same regions, all at one relay', () => {
  for (const { load, control } of scenarios({ watchers: 50, watchersOfSix: 16, people: 12 })) {
    assert.deepEqual(control.shape, load.shape);
    const relays = [...control.seats, ...(control.publishers ?? [])].map(({ relay }) => relay.join('-'));
    assert.equal(new Set(relays).size, 1);
    const regionsOf = (seats: typeof load.seats): string[] => [...new Set(seats.map((seat) => seat.in))];
    assert.deepEqual(regionsOf(control.seats), regionsOf(load.seats));
    for (const seat of [...load.seats, ...(load.publishers ?? [])]) assert.equal(seat.relay[0], seat.in);
  }
});

test('the tables and the picture name controls, and show no number that is none', () => {
  const [first, , last] = scenarios({ watchers: 50, watchersOfSix: 16, people: 12 });
  assert.ok(first && last);
  const rows = [first, last].flatMap((scenario) =>
    [false, true].map((isControl): Row => ({ scenario, isControl, outcome: GOOD, verdict: judge(GOOD) })),
  );
  assert.match(copiesTable(rows), /control: one relay for all +50\.0 +1\.20 /);
  assert.match(pathsTable(rows), /eu, us/);
  assert.match(topicTable(TOPIC), /us +4 +1\.05/);
  assert.doesNotMatch(plot(panelsOf(rows, TOPIC), { label: 'a', foot: 'b' }), /NaN|undefined/);
  const failed = rows.map((row): Row => ({ ...row, verdict: { verdict: 'failed', why: 'b' } }));
  assert.deepEqual(
    panelsOf(failed, TOPIC).map(({ bars }) => bars.map(({ label }) => label)),
    [['a topic, to us']],
    'no bar of a row without a result',
  );
});

test('the round trip of the thesis is the mean of the sessions; between people it is there and back, over all pairs', () => {
  assert.equal(sessionRttMs(GOOD), 30);
  const { relayRttMs, rttMs, euRttMs, jitterMs, loss } = figuresOf({ ...GOOD, missing: 5 });
  assert.deepEqual([relayRttMs, rttMs, euRttMs, jitterMs, loss], [30, 49, 2, 0.5, 0.005]);
  assert.equal(together({ paths: [] }), undefined);
});

test('paths count by their frames', () => {
  const paths = [path('eu', 'us', { frames: 300, meanMs: 40 }), path('eu', 'eu', { meanMs: 0 })];
  assert.equal(together({ paths })?.meanMs, 30);
});

test('the thesis has 2, 10, 15 and 20 people; pinned has the people of geographic at the relay in us', () => {
  assert.deepEqual(PEOPLE, [2, 10, 15, 20]);
  const seats = (topology: (typeof topologies)[number]): string[] =>
    loadOf(topology, 10).seats.map(({ in: region, relay }) => `${region} at ${relay[0]}`);
  assert.deepEqual(topologies.map(seats), [
    ['ap at ap'],
    ['ap at eu'],
    ['ap at us'],
    ['eu at eu', 'us at us'],
    ['eu at us', 'us at us'],
  ]);
  assert.deepEqual(THESIS, {
    rttMs: { 'relay in eu': 45, 'relay in us': 117 },
    jitterMs: { 'relay in eu': 37, 'relay in us': 101 },
  });
});

test('the table and the picture of the thesis show every run, and void ones as that', () => {
  const runs = topologies.flatMap((topology) =>
    PEOPLE.map((people): ThesisRun => {
      const outcome = { ...GOOD, generator: { share: people === 20 ? 0.9 : 0.2 } };
      return { topology, people, figures: figuresOf(outcome), outcome, verdict: judge(outcome) };
    }),
  );
  assert.match(thesisTable(runs), /VOID: the generator used 90 % of its core/);
  const svg = thesisPicture(runs, { foot: 'a & b' });
  assert.equal(svg.match(/fill="#fff" stroke=/g)?.length, 4 * topologies.length, 'hollow in each panel');
  assert.equal(svg.match(/stroke-dasharray/g)?.length, 4, 'two lines of the thesis in two panels');
  assert.match(svg, /a &amp; b/);
  assert.doesNotMatch(svg, /NaN|undefined/);
});
