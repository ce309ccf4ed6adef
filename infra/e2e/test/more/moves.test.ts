/**
 * What a change of the path costs those who are in a call: from the mesh to relays as others come, back as these leave, and as a second relay joins. The
 * two browsers have cameras of 24 frames a second and voices without pause, so that what is measured is the change.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { filmsFrom } from '../../support/films.ts';
import { clientsOf, relaysAreReady } from '../../support/live-relays.ts';
import { connectsBy } from '../../support/paths.ts';
import { longestFrozen, longestSilence, longestUnheard } from '../../support/presence.ts';
import { withSite, type TestSite } from '../../support/site.ts';
import { SYLLABLE_MS } from '../../support/speech.ts';
import { cappedStall } from '../../support/stalls.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';
import { listen } from '../../support/voices.ts';

const SIZES = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };
const WATCHED_MS = 5000;
const WITHIN_MS = 20_000;
const FRAME_MS = 1000 / 24;
/** Of what stands still without a change, the most that is deducted. */
const MAX_USUAL_MS = 100;
interface Gaps {
  readonly stillMs: number;
  /** Without received sound. */
  readonly silentMs: number;
  /** Without sound from the loudspeaker. */
  readonly unheardMs: number;
}
/** The promise for a move. */
const MOVE: Gaps = { stillMs: 200, silentMs: 300, unheardMs: 300 };
/** For someone who joins a call that is through relays already: two cores start a program and decode one more. */
const JOIN: Gaps = { stillMs: 300, silentMs: 300, unheardMs: 300 };
/** What a join on another relay may cost more than one on the same. Joins on one relay were 50 ms apart. */
const MORE_MS = 100;

describe('a move', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '3' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MEDIA-12] to relays and back leaves no picture still for more than 0.2 s and no silence for more than 0.3 s, besides what the machine stands still without a move', async (t) => {
    const room = newRoom();
    const people = [await join(site, 'Ada', room), await join(site, 'Ben', room)];
    for (const one of people) await connectsBy(one, 'mesh', 1);
    const films = await filmsFrom(t, `${site.web}/r/${room}`, 'silent');
    const there = await gapsOf(t, 'to relays', people, async () => {
      films.begin(2);
      for (const one of people) await connectsBy(one, 'sfu', 3);
    });
    const back = await gapsOf(t, 'back to the mesh', people, async () => {
      films.end();
      for (const one of people) await connectsBy(one, 'mesh', 1);
    });
    for (const gaps of [there, back]) assertWithin(gaps, MOVE);
  });
});

/** A room stays on one relay up to three participants here (MEDIA-3). */
describe('a second relay', { timeout: 240_000 }, () => {
  const site = withSite({
    PARLEY_LIMIT_MESH_PARTICIPANTS: '1',
    PARLEY_LIMIT_MEDIA_PARTICIPANTS_PER_RELAY: '3',
  });
  beforeEach(() => relaysAreReady(site.stack));
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MEDIA-3] joins a room that grows, and costs those who are there at most 0.1 s more of a picture or of sound than a participant who joins on their own relay', async (t) => {
    const room = newRoom();
    const people = [await join(site, 'Ada', room), await join(site, 'Ben', room)];
    for (const one of people) await connectsBy(one, 'sfu', 1);
    const films = await filmsFrom(t, `${site.web}/r/${room}`, 'silent');
    const grow = (others: number) => async (): Promise<void> => {
      films.begin(1);
      for (const one of people) await connectsBy(one, 'sfu', others);
    };
    const same = await gapsOf(t, 'a third on the same relay', people, grow(2));
    const other = await gapsOf(t, 'a fourth on a second relay', people, grow(3));
    await hasThreeAndOne(site.stack.endpoints.relays);
    for (const gaps of [same, other]) assertWithin(gaps, JOIN);
    assertWithin(other, {
      stillMs: same.stillMs + MORE_MS,
      silentMs: same.silentMs + MORE_MS,
      unheardMs: same.unheardMs + MORE_MS,
    });
  });
});

/** Resolves when three sessions are with one relay and the fourth is with the other. */
async function hasThreeAndOne(relays: readonly string[]): Promise<void> {
  let counts: readonly number[] = [];
  await until(async () => (counts = (await clientsOf(relays)).toSorted((a, b) => a - b)).join() === '1,3', {
    withinMs: WITHIN_MS,
    what: () => `three sessions with one relay and one with the other: ${counts.join()}`,
  });
}

const join = ({ browser, web }: TestSite, name: string, room: string): Promise<Visitor> =>
  Visitor.join(browser, { name, web, room, sizes: SIZES, slate: true, speaks: true });

/** The longest gaps of a change, less what stands still without it. */
async function gapsOf(
  t: TestContext,
  what: string,
  people: readonly Visitor[],
  change: () => Promise<void>,
): Promise<Gaps> {
  const longest = async (): Promise<Gaps> => ({
    stillMs: await longestFrozen(people),
    silentMs: await longestSilence(people),
    unheardMs: await longestUnheard(people),
  });
  for (const one of people) await one.watch();
  for (const { page } of people) await listen(page);
  await pause(WATCHED_MS);
  const usual = await longest();
  await change();
  await pause(WATCHED_MS);
  const { stillMs, silentMs, unheardMs } = await longest();
  t.diagnostic(
    `${what}: no new picture for ${stillMs} ms (before ${usual.stillMs}), no sound received for ${silentMs} ms (before ${usual.silentMs}) and played for ${unheardMs} ms (before ${usual.unheardMs})`,
  );
  return {
    stillMs: stillMs - stalledMs(usual.stillMs - FRAME_MS),
    silentMs: silentMs - stalledMs(usual.silentMs - SYLLABLE_MS),
    unheardMs: unheardMs - stalledMs(usual.unheardMs - SYLLABLE_MS),
  };
}

/** A machine that stands still for longer without a change can test no such promise. */
const stalledMs = (ms: number): number => Math.min(MAX_USUAL_MS, cappedStall(ms));

function assertWithin(gaps: Gaps, most: Gaps): void {
  const text = `${JSON.stringify(gaps)}, at most ${JSON.stringify(most)}`;
  const isWithin = (Object.keys(most) as (keyof Gaps)[]).every((of) => gaps[of] <= most[of]);
  assert.ok(isWithin, text);
}
