import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import { Client } from '../../../../services/signaling/test/support/client.ts';
import { Owner } from '../../../../services/signaling/test/support/owner.ts';
import type { RegionName } from '../../src/site.ts';
import { Crowd, isKnownEverywhere } from '../support/crowd.ts';
import { lab, linked } from '../support/lab.ts';

const SLOW = { rate: '1mbit', loss: 0.02 };
const ROUNDS = 8;
const ENTRIES = 15;
/** The deadline of a request to the home region, and the rest. A join makes one, and the entry after it another one. */
const ANSWERED_WITHIN_MS = 2500;
const LOCAL_RATIO = 1.2;

const regions = lab({ 'address.joins': 100_000 });

const middle = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.trunc(times.length / 2)] ?? NaN;

/** The times of entries into a room, one after the other, in ms; each leaves again. */
async function enterAndLeave(region: RegionName, room: string): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < ENTRIES; at += 1) {
    const begun = performance.now();
    const client = await Client.enter(regions().pod(region, 1), room, `${region} ${at}`);
    times.push(performance.now() - begun);
    client.leave();
    await client.waitForClose();
  }
  return times;
}

test('[HOME-1] FAULT=slow: over links with 1 Mbit/s that lose 2 % the home region answers or is unreachable in time, and local joins are as fast as before', async (t) => {
  await linked(regions());
  t.after(() => regions().heal());
  const owner = await Owner.of(regions().pod('eu', 1));
  await isKnownEverywhere(regions(), owner.room);
  const stays = await Client.enter(regions().pod('eu', 1), owner.room, 'stays');
  const crowd = new Crowd(regions(), owner.room);
  t.after(() => crowd.leave());
  const stalled = watchStalls();
  const times: Times = { far: [], usual: [], meanwhile: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    regions().heal();
    times.usual.push(...(await enterAndLeave('eu', owner.room)));
    regions().slow(SLOW);
    times.meanwhile.push(...(await enterAndLeave('eu', owner.room)));
    for (const region of ['us', 'ap', 'us', 'ap'] as const) times.far.push(await enterFrom(crowd, region));
    await crowd.empty();
  }
  report(t, times, crowd.refused.get('ROOM_HOME_UNREACHABLE') ?? 0);
  const longest = crowd.longestMs;
  t.diagnostic(`the longest wait for an answer: ${Math.round(longest)} ms`);
  assert.ok(longest <= ANSWERED_WITHIN_MS + stalled(), `an answer took ${Math.round(longest)} ms`);
  const ratio = middle(times.meanwhile) / middle(times.usual);
  assert.ok(ratio <= LOCAL_RATIO, `local joins take ${ratio.toFixed(2)} times as long`);
  stays.leave();
});

interface Times {
  readonly far: number[];
  /** In the home region. */
  readonly usual: number[];
  readonly meanwhile: number[];
}

/** The time of a join and the entry after it, until the client is in the room or the room is refused as unreachable. */
async function enterFrom(crowd: Crowd, region: RegionName): Promise<number> {
  const begun = performance.now();
  const code = await crowd.enter(region, region);
  assert.ok(code === undefined || code === 'ROOM_HOME_UNREACHABLE', code);
  return performance.now() - begun;
}

function report(t: TestContext, { far, usual, meanwhile }: Times, refused: number): void {
  const ms = (times: readonly number[]): string =>
    `${middle(times).toFixed(1)} ms (at most ${Math.max(...times).toFixed(0)})`;
  t.diagnostic(`entries from other regions: ${ms(far)}, ${refused} of ${far.length} refused`);
  t.diagnostic(`entries in the home region: ${ms(usual)}, over slow links ${ms(meanwhile)}`);
}
