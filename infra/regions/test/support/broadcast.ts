/** Media of rooms over regions: how it crosses, and what a cut does to it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_STALL_MS, watchStalls } from '@parley/e2e/support/stalls.ts';
import { makeVideo } from '@parley/local/terminal';
import { randomRoom } from '../../../../services/signaling/test/support/pod.ts';
import { roundTripMs } from '../../src/links.ts';
import type { Regions } from '../../src/regions.ts';
import { regionNames, type RegionName } from '../../src/site.ts';
import { linked } from './lab.ts';
import { mediaMetric, relaysAreLinked } from './relay-metrics.ts';
import { now, Publisher, Viewer } from './viewers.ts';

/** Processes start, join a room and dial their relay, on a busy machine. */
const SEEN_WITHIN_MS = 30_000;
const MEASURED_MS = 6000;
/** Of a broadcast over the links between two regions, where a second one would make two: key frames in flight at either end of the measurement count. */
const MOST_COPIES = 1.5;
/** Within a region, and over a region that is reachable by both when two are cut off from each other. */
const LONGEST_GAP_MS = 1000;
/** In addition to the round trips of the handshake, the announcement and the subscription. */
const BACK_WITHIN_MS = 2000;
const ROUND_TRIPS = 7;
/** A link is found dead within 0.75 s (MED-43), and subscriptions move then. */
const DETOUR_WITHIN_MS = 5000;
/** Until then subscriptions move to other relays, which offer the last group that they have from before the cut. */
const DRAINED_MS = DETOUR_WITHIN_MS;

interface Room {
  readonly publisher: Publisher;
  readonly viewers: ReadonlyMap<RegionName, Viewer>;
}

/** A room with a publisher in one region and a viewer in each; resolves when all receive frames. */
async function openRoom(t: TestContext, regions: Regions, from: RegionName): Promise<Room> {
  const [room, video] = [randomRoom(), makeVideo(join(regions.dir, `${from}.mp4`))];
  const begun = now();
  const publisher = new Publisher(regions, from, room, video);
  const viewers = new Map(regionNames.map((region) => [region, new Viewer(regions, region, room)]));
  t.after(() => Promise.all([publisher, ...viewers.values()].map((command) => command.stop())));
  await Promise.all([...viewers.values()].map((viewer) => viewer.sees(begun, SEEN_WITHIN_MS)));
  return { publisher, viewers };
}

const viewerIn = ({ viewers }: Room, region: RegionName): Viewer => {
  const viewer = viewers.get(region);
  assert.ok(viewer);
  return viewer;
};

/** What is published in one region arrives in each other one, once. */
export async function mediaCrosses(t: TestContext, regions: Regions): Promise<void> {
  await relaysAreLinked(regions);
  await openRoom(t, regions, 'eu');
  const others = regionNames.filter((region) => region !== 'eu');
  const published = (): Promise<number> =>
    mediaMetric(regions, 'eu', 'bytes_total', 'kind="client"', 'direction="in"');
  const received = (region: RegionName): Promise<number> =>
    mediaMetric(regions, region, 'bytes_total', 'kind="region-link"', 'direction="in"');
  const before = await Promise.all([published(), ...others.map(received)]);
  await pause(MEASURED_MS);
  const after = await Promise.all([published(), ...others.map(received)]);
  const [sent = 0, ...arrived] = after.map((bytes, index) => bytes - (before[index] ?? 0));
  for (const [index, region] of others.entries()) {
    const copies = (arrived[index] ?? 0) / sent;
    t.diagnostic(`${copies.toFixed(2)} copies from eu to ${region}`);
    assert.ok(copies > 0.5 && copies <= MOST_COPIES, `${copies} copies from eu to ${region}`);
  }
}

/** One region is cut off from both others: its media goes on within it, and is back elsewhere soon after. */
export async function mediaOutlivesCut(t: TestContext, regions: Regions, lastsMs: number): Promise<void> {
  t.after(() => regions.heal());
  await Promise.all([linked(regions), relaysAreLinked(regions)]);
  const [eu, us] = await Promise.all([openRoom(t, regions, 'eu'), openRoom(t, regions, 'us')]);
  const within = [viewerIn(eu, 'eu'), viewerIn(us, 'us'), viewerIn(us, 'ap')];
  const across = [viewerIn(eu, 'us'), viewerIn(eu, 'ap'), viewerIn(us, 'eu')] as const;
  const ended = (): Promise<number[]> =>
    Promise.all(
      regionNames.map((region) => mediaMetric(regions, region, 'sessions_ended_total', 'kind="client"')),
    );
  const endedBefore = await ended();
  const stalled = watchStalls();
  const cutAt = now();
  regions.cut('eu');
  await pause(lastsMs);
  for (const viewer of across)
    assert.equal(viewer.count(cutAt + DRAINED_MS), 0, `${viewer.name} receives frames`);
  const healedAt = now();
  regions.heal();
  const back = await Promise.all(across.map((viewer) => viewer.sees(healedAt, SEEN_WITHIN_MS)));
  const [first, last] = [Math.min(...back), Math.max(...back)].map((at) => Math.round(at - healedAt));
  t.diagnostic(`media is back ${first} to ${last} ms after the cut`);
  const stalledMs = stalled();
  for (const [index, at] of back.entries()) {
    const mostMs = BACK_WITHIN_MS + ROUND_TRIPS * roundTripMs('eu', index === 1 ? 'ap' : 'us') + stalledMs;
    assert.ok(at - healedAt <= mostMs, `${across[index]?.name} receives frames after ${at - healedAt} ms`);
  }
  for (const viewer of within) {
    const gapMs = viewer.longestGapMs(cutAt);
    t.diagnostic(`${viewer.name} within reach: longest gap ${gapMs} ms`);
    assert.ok(gapMs <= LONGEST_GAP_MS + stalledMs, `${viewer.name} received no frame for ${gapMs} ms`);
  }
  assert.deepEqual(await ended(), endedBefore, `media sessions ended in ${regionNames.join(', ')}`);
}

/** Two regions are cut off from each other: their media goes over the third. */
export async function mediaTakesDetour(t: TestContext, regions: Regions): Promise<void> {
  t.after(() => regions.heal());
  await relaysAreLinked(regions);
  const eu = await openRoom(t, regions, 'eu');
  const viewer = viewerIn(eu, 'us');
  const stalled = watchStalls();
  const cutAt = now();
  regions.cut('eu', 'us');
  await pause(DETOUR_WITHIN_MS + MAX_STALL_MS);
  await viewer.sees(now(), SEEN_WITHIN_MS);
  const gapMs = viewer.longestGapMs(cutAt);
  t.diagnostic(`from eu over ap to us after ${gapMs} ms`);
  const mostMs = DETOUR_WITHIN_MS + roundTripMs('eu', 'ap') + roundTripMs('ap', 'us') + stalled();
  assert.ok(gapMs <= mostMs, `the detour took ${gapMs} ms`);
}

/** No lease arrives from another region for longer than one is valid, and media goes on over the links there are. */
export async function mediaOutlivesGateways(
  t: TestContext,
  regions: Regions,
  lastsMs: number,
): Promise<void> {
  t.after(() => regions.repair());
  await Promise.all([linked(regions), relaysAreLinked(regions)]);
  const eu = await openRoom(t, regions, 'eu');
  const stalled = watchStalls();
  const killedAt = now();
  for (const number of [1, 2]) regions.kill(`eu-gateway-${number}`, 'SIGKILL');
  await pause(lastsMs);
  const stalledMs = stalled();
  for (const viewer of eu.viewers.values()) {
    const gapMs = viewer.longestGapMs(killedAt);
    t.diagnostic(`${viewer.name} without gateways: longest gap ${gapMs} ms`);
    assert.ok(gapMs <= LONGEST_GAP_MS + stalledMs, `${viewer.name} received no frame for ${gapMs} ms`);
  }
}
