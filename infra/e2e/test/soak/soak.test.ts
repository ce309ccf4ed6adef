/**
 * A call that goes on: six participants through relays, four of them terminals, for `SOAK_MINUTES`, an hour by `make soak`. Each tab shows five
 * others, and both have a slate in place of a camera, which the other one reads.
 */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { filmsFrom } from '../../support/films.ts';
import { connectsBy } from '../../support/paths.ts';
import { withSite } from '../../support/site.ts';
import { readSlates, slates, type Slate } from '../../support/slate.ts';
import { watchStalls } from '../../support/stalls.ts';
import { heapOf, residentOf } from '../../support/tab-memory.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 60);
/** Of both tabs. */
const TILES = 10;
/** Memory is compared from this length on: a tab takes some minutes to have all that it needs. */
const LONG_MINUTES = 20;
const INTERVAL_MS = 60_000;
const SETTLED_MS = 10_000;
const LOOK_MS = 2000;
const SIZES = { camera: { width: 320, height: 180 }, page: { width: 640, height: 480 } };
const APART_MS = 80;
/** Of sixty in a minute, so that the median says something. */
const FLASHES = 30;
const FROZEN_MS = 1000;
/** Of the time of all tiles, while the page cannot receive every camera and says so: the machine that carries the whole call may be shared. */
const PAUSED = 0.01;
const GROWTH = 1.1;
/** 60 to 70 were seen: the MoQ library keeps something of each group that a tab sends. */
const SCRIPTS_KIB_PER_MINUTE = 100;

interface Minute {
  /** MiB, of each tab: the least of the minute. */
  readonly heaps: readonly number[];
  /** MiB, of both together. */
  readonly resident: number;
  /** Of each tab: how long the sound of the other one is played after its picture is shown, ms. */
  readonly apartMs: readonly (readonly number[])[];
  /** The longest time without a new picture of any tile, besides the time that the machine stalled, and in which tab it was of whom. */
  readonly frozenMs: number;
  readonly frozen: string;
  /** Of each tab: how long tiles said that their video is paused, s, of all tiles together. */
  readonly pausedS: readonly number[];
  /** Of each tab: the same of the tile of the other tab, whose flashes it does not show then. */
  readonly flashlessS: readonly number[];
}

describe('a call of six through relays', { timeout: MINUTES * 1.2 * INTERVAL_MS + 300_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('has no tile that freezes for a second, and tiles that say their video is paused for a hundredth of the time at most, in each minute a median of sounds within 80 ms of their pictures, no line in the console, and from 20 minutes on tabs whose resident memory does not grow by a tenth', async (t) => {
    const room = newRoom();
    const join = (name: string): Promise<Visitor> =>
      Visitor.join(site.browser, { name, web: site.web, room, sizes: SIZES, slate: true });
    const people = [await join('Ada'), await join('Ben')];
    const terminals = (await filmsFrom(t, `${site.web}/r/${room}`)).begin(4, 'join', '--log', '--publish');
    for (const one of people) await connectsBy(one, 'sfu', 5);
    for (const { page } of people) await readSlates(page);
    await pause(SETTLED_MS);
    for (const { page } of people) await slates(page);

    const minutes: Minute[] = [];
    while (minutes.length < MINUTES) {
      const minute = await watchMinute(people);
      minutes.push(minute);
      console.log(`${minutes.length} of ${MINUTES} min: ${textOf(minute)}`);
    }
    for (const one of people) {
      await connectsBy(one, 'sfu', 5);
      assert.deepEqual([one.errors, one.lines], [[], []]);
    }
    assert.ok(terminals.every(({ child }) => child.exitCode === null));
    assert.deepEqual(minutes.flatMap(faultsOf), []);
    const paused = sum(minutes.flatMap(({ pausedS }) => pausedS)) / (minutes.length * 60 * TILES);
    console.log(`tiles were paused for ${(paused * 100).toFixed(2)} % of the time`);
    assert.ok(paused <= PAUSED, `paused: ${paused}`);
    assertFlat(minutes);
  });

  async function watchMinute(people: readonly Visitor[]): Promise<Minute> {
    const stalled = watchStalls();
    let heaps = people.map(() => Number.POSITIVE_INFINITY);
    for (let nth = 0; nth < INTERVAL_MS / LOOK_MS; nth += 1) {
      await pause(LOOK_MS);
      const now = await Promise.all(people.map(({ page }) => heapOf(page)));
      heaps = heaps.map((least, at) => Math.min(least, now[at] ?? least));
    }
    const stalledMs = stalled();
    const read = await Promise.all(people.map(({ page }) => slates(page)));
    assert.deepEqual(
      read.map((tiles) => tiles.length),
      [5, 5],
      'tiles',
    );
    const slated = await Promise.all(people.map((one) => one.participant()));
    const freezes = read.flatMap((tiles, tab) =>
      tiles.flatMap(({ of, freezesMs }) =>
        freezesMs.map((ms) => ({ ms, what: `${of} in the tab of ${people[tab]?.name}` })),
      ),
    );
    const [longest = { ms: 0, what: 'none' }] = freezes.toSorted((one, other) => other.ms - one.ms);
    return {
      heaps: heaps.map(mebibytes),
      resident: mebibytes(await residentOf(site.browser)),
      apartMs: read.map((tiles) => tiles.flatMap(({ apartMs }) => apartMs)),
      frozenMs: Math.max(0, Math.round(longest.ms - stalledMs)),
      frozen: longest.what,
      pausedS: read.map(pausedSeconds),
      flashlessS: read.map((tiles) => pausedSeconds(tiles.filter(({ of }) => slated.includes(of)))),
    };
  }
});

function faultsOf({ frozenMs, frozen, apartMs, flashlessS }: Minute, index: number): string[] {
  const faults = apartMs.flatMap((apart, tab) => {
    if (apart.length < FLASHES - (flashlessS[tab] ?? 0)) return [`${apart.length} flashes with a tone`];
    return Math.abs(quantile(apart, 0.5)) > APART_MS ? [`sound ${quantile(apart, 0.5)} ms apart`] : [];
  });
  if (frozenMs >= FROZEN_MS) faults.push(`${frozen} froze for ${frozenMs} ms`);
  return faults.map((fault) => `minute ${index + 1}: ${fault}`);
}

/** The means of the last quarter of the time and of the second one: a tab grows for minutes, until the browser collects garbage. */
function assertFlat(minutes: readonly Minute[]): void {
  if (minutes.length < LONG_MINUTES) {
    console.log(`memory was not compared: that takes ${LONG_MINUTES} minutes`);
    return;
  }
  const quarter = Math.floor(minutes.length / 4);
  const scripts = (SCRIPTS_KIB_PER_MINUTE / 1024) * 2 * quarter;
  for (const [what, of, most] of [
    ['the scripts of Ada', ({ heaps }: Minute) => heaps[0], (before: number) => before + scripts],
    ['the scripts of Ben', ({ heaps }: Minute) => heaps[1], (before: number) => before + scripts],
    ['both tabs', ({ resident }: Minute) => resident, (before: number) => before * GROWTH],
  ] as const) {
    const [before, after] = [minutes.slice(quarter, 2 * quarter), minutes.slice(-quarter)].map((part) =>
      mean(part.map((minute) => of(minute) ?? Number.NaN)),
    ) as [number, number];
    console.log(`${what}: ${before} MiB in the second quarter, ${after} in the last`);
    assert.ok(before > 0 && after <= most(before), `${what} grew from ${before} to ${after} MiB`);
  }
}

function textOf({ heaps, resident, apartMs, frozenMs, frozen, pausedS }: Minute): string {
  const apart = apartMs.map((all) => `${quantile(all, 0.5)}, ${quantile(all, 0.95)}`).join(' and ');
  return `scripts ${heaps.join(' and ')} MiB, both tabs ${resident} MiB; sound after its picture ${apart} ms (p50, p95); longest freeze ${frozenMs} ms (${frozen}); paused ${pausedS.join(' and ')} s`;
}

const pausedSeconds = (tiles: readonly Slate[]): number =>
  Math.round(sum(tiles.map(({ pausedMs }) => pausedMs)) / 1000);

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);

const mean = (all: readonly number[]): number => Math.round((sum(all) / all.length) * 10) / 10;

const mebibytes = (bytes: number): number => Math.round((bytes / 2 ** 20) * 10) / 10;

function quantile(all: readonly number[], share: number): number {
  const sorted = all.toSorted((one, other) => one - other);
  return Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN) * 10) / 10;
}
