import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Quality } from '@parley/protocol/client-messages';
import type { CallFigures, Link } from '../../src/call.ts';
import type { TrackFigures } from '../../src/measure/figures.ts';
import { QualityReports, reportOf } from '../../src/measure/quality-reports.ts';
import { fakeClock } from '../fakes/clock.ts';

const voice: TrackFigures = {
  source: 'microphone',
  codec: 'opus',
  width: null,
  height: null,
  framesPerSecond: null,
  kilobitsPerSecond: 32,
  lossPercent: 1,
  bufferMs: 40,
  freezes: null,
};
const picture: TrackFigures = { ...voice, source: 'camera', lossPercent: 50, bufferMs: 90, freezes: 2 };
const link = (path: 'direct' | 'turn' | 'sfu', roundTripMs: number | null = 80): Link => ({
  status: 'connected',
  path,
  quality: 'good',
  roundTripMs,
  lossPercent: null,
});
const figures = (...received: readonly (readonly TrackFigures[])[]): CallFigures => ({
  people: received.map((tracks, nth) => ({ participant: `p${nth}`, received: tracks, sent: [] })),
  relay: null,
});
/** Of p0, p1 and so on. */
const ways = (...all: readonly (readonly [path: 'mesh' | 'turn' | 'relay', roundTripMs?: number | null])[]) =>
  new Map(all.map(([path, roundTripMs = 80], nth) => [`p${nth}`, { path, roundTripMs }]));

test('[QUAL-2] a report has the means of voices and their ways, and the sum of freezes', () => {
  const worse = { ...voice, lossPercent: 4, bufferMs: 60 };
  const report = reportOf(figures([voice, picture], [worse, picture]), ways(['mesh'], ['mesh', 120]));
  assert.deepEqual(report, {
    type: 'quality',
    path: 'mesh',
    roundTripMs: 100,
    lossPermille: 25,
    bufferMs: 50,
    freezes: 4,
  });
});

test('[QUAL-2] the path is that of the relay or of TURN if a voice came that way, and not that of a muted participant', () => {
  const pathOf = (heard: readonly TrackFigures[], ...paths: readonly ('mesh' | 'turn' | 'relay')[]) =>
    reportOf(figures([voice], heard), ways(...paths.map((path) => [path] as const)))?.path;
  assert.equal(pathOf([voice], 'mesh', 'turn'), 'turn');
  assert.equal(pathOf([voice], 'turn', 'relay'), 'relay');
  assert.equal(pathOf([picture], 'mesh', 'relay'), 'mesh');
});

test('[QUAL-2] through relays the round trip is that to the relay', () => {
  const relay = { transport: 'WebTransport', roundTripMs: 30, lossPercent: null, sent: [] } as const;
  assert.equal(reportOf({ ...figures([voice]), relay }, ways(['relay', null]))?.roundTripMs, 30);
});

test('[QUAL-2] what is unknown is absent, and nothing is beyond the schema', () => {
  const unknown = { ...voice, bufferMs: null };
  assert.deepEqual(reportOf(figures([unknown]), ways(['mesh', null])), {
    type: 'quality',
    path: 'mesh',
    lossPermille: 10,
  });
  const wild = { ...voice, lossPercent: 200, bufferMs: -450, freezes: 1e6 };
  const { lossPermille, bufferMs, freezes } = reportOf(figures([wild]), ways(['mesh'])) ?? {};
  assert.deepEqual([lossPermille, bufferMs, freezes], [1000, 0, 300]);
});

test('[QUAL-1] without a voice, or without its way, there is no report', () => {
  assert.equal(reportOf(figures([picture]), ways(['mesh'])), undefined);
  assert.equal(reportOf(figures([{ ...voice, lossPercent: null }]), ways(['mesh'])), undefined);
  assert.equal(reportOf(figures([voice]), ways()), undefined);
});

test('[QUAL-2] the first reading of a track, which has no rate yet, is a voice that arrived', () => {
  assert.ok(reportOf(figures([{ ...voice, kilobitsPerSecond: 0 }]), ways(['mesh'])));
});

test('[QUAL-1] [QUAL-2] reports come as often as the pod asks, the first with the time to the first media', async () => {
  const world = start();
  world.set({ status: 'connecting' });
  world.reports.welcomed(10_000);
  await world.clock.advance(700);
  world.set(link('direct'));
  await world.clock.advance(29_300);
  assert.deepEqual(
    world.sent.map(({ setupMs, reconnects }) => [setupMs, reconnects]),
    [
      [700, 0],
      [undefined, 0],
      [undefined, 0],
    ],
  );
});

test('[QUAL-2] the time to the first media of a participant who was alone begins when another one comes', async () => {
  const world = start();
  world.reports.welcomed(10_000);
  await world.clock.advance(900_000);
  world.set({ status: 'connecting' });
  await world.clock.advance(400);
  world.set(link('direct'));
  await world.clock.advance(10_000);
  assert.equal(world.sent[0]?.setupMs, 400);
});

test('[QUAL-2] and that of one who waited in a lobby, or for a turn, with the welcome', async () => {
  const world = start();
  world.reports.waits();
  await world.clock.advance(900_000);
  world.set({ status: 'connecting' });
  world.reports.welcomed(10_000);
  await world.clock.advance(300);
  world.set(link('turn'));
  await world.clock.advance(10_000);
  assert.equal(world.sent[0]?.setupMs, 300);
});

test('[QUAL-2] a resume counts once, delays no report, and a pod that asks for nothing gets nothing', async () => {
  const world = start();
  world.set(link('turn'));
  world.reports.welcomed(10_000);
  await world.clock.advance(9000);
  world.reports.welcomed(10_000);
  await world.clock.advance(11_000);
  assert.deepEqual(
    world.sent.map(({ reconnects }) => reconnects),
    [1, 0],
  );
  world.reports.welcomed(undefined);
  await world.clock.advance(60_000);
  assert.equal(world.sent.length, 2);
  assert.equal(world.clock.pending, 0);
});

test('[QUAL-2] what could not be sent is in the next report', async () => {
  const world = start();
  world.set(link('direct'));
  world.reports.welcomed(10_000);
  world.reports.welcomed(10_000);
  world.state.isSent = false;
  await world.clock.advance(10_000);
  world.state.isConnected = false;
  await world.clock.advance(10_000);
  assert.equal(world.state.measured, 1);
  Object.assign(world.state, { isSent: true, isConnected: true });
  await world.clock.advance(10_000);
  assert.deepEqual(
    world.sent.map(({ setupMs, reconnects }) => [setupMs, reconnects]),
    [[0, 1]],
  );
});

test('[QUAL-2] a voice whose link recovers came by the way that it had', async () => {
  const world = start();
  world.set(link('turn'));
  world.set({ status: 'recovering' });
  world.reports.welcomed(10_000);
  await world.clock.advance(10_000);
  assert.equal(world.sent[0]?.path, 'turn');
});

test('[QUAL-1] a browser that fails to count sends nothing, and is asked again', async () => {
  const world = start();
  world.set(link('direct'));
  world.reports.welcomed(10_000);
  world.state.fails = true;
  await world.clock.advance(10_000);
  assert.equal(world.sent.length, 0);
  world.state.fails = false;
  await world.clock.advance(10_000);
  assert.equal(world.sent.length, 1);
});

test('[QUAL-1] nothing is sent after the call has ended', async () => {
  const world = start();
  world.set(link('direct'));
  world.reports.welcomed(10_000);
  world.reports.close();
  await world.clock.advance(60_000);
  assert.deepEqual([world.sent.length, world.clock.pending], [0, 0]);
});

/** A call with one other participant, p0, or without. */
function start() {
  const clock = fakeClock();
  const sent: Quality[] = [];
  const state = { fails: false, isConnected: true, isSent: true, measured: 0 };
  let other: Link | undefined;
  const reports = new QualityReports({
    clock,
    measure: () => {
      state.measured += 1;
      return state.fails ? Promise.reject(new Error('closed')) : Promise.resolve(figures([voice]));
    },
    links: () => (other === undefined ? [] : [['p0', other]]),
    isConnected: () => state.isConnected,
    send: (report) => {
      if (state.isSent) sent.push(report);
      return state.isSent;
    },
  });
  const set = (now: Link): void => {
    other = now;
    reports.follow();
  };
  return { clock, sent, state, reports, set };
}
