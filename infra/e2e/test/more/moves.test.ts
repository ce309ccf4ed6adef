/**
 * What a change of the path costs those who are in a call: from the mesh to relays as others come, back as these leave, and as a second relay joins. The
 * two browsers have cameras of 24 frames a second and voices without pause, so that what is measured is the change.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newProfile } from '../../support/browsers.ts';
import { filmsFrom } from '../../support/films.ts';
import { clientsOf, relaysAreReady } from '../../support/live-relays.ts';
import { connectsBy } from '../../support/paths.ts';
import { longestSilence, longestStill } from '../../support/presence.ts';
import { withSite, type TestSite } from '../../support/site.ts';
import { holdSlate } from '../../support/slate.ts';
import { speakWithoutPause, SYLLABLE_MS } from '../../support/speech.ts';
import { cappedStall } from '../../support/stalls.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';
import { listen } from '../../support/voices.ts';

const SIZES = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };
const WATCHED_MS = 5000;
const WITHIN_MS = 20_000;
const FRAME_MS = 1000 / 24;
/** Besides what the machine stands still without a change. */
const STILL_MS = 200;
const SILENT_MS = 300;

describe('a move', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '3' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MEDIA-12] to relays and back leaves no picture still for more than 0.2 s and no silence for more than 0.3 s', async (t) => {
    const room = newRoom();
    const people = [await join(site, 'Ada', room), await join(site, 'Ben', room)];
    for (const one of people) await connectsBy(one, 'mesh', 1);
    const films = await filmsFrom(t, `${site.web}/r/${room}`);
    const there = await faultsOf(t, 'to relays', people, async () => {
      films.begin(2);
      for (const one of people) await connectsBy(one, 'sfu', 3);
    });
    const back = await faultsOf(t, 'back to the mesh', people, async () => {
      films.end();
      for (const one of people) await connectsBy(one, 'mesh', 1);
    });
    assert.deepEqual([...there, ...back], []);
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

  it('[MEDIA-3] joins a room that grows, and costs those who are there no more than another participant on their own relay: no picture still for more than 0.2 s, no silence for more than 0.3 s', async (t) => {
    const room = newRoom();
    const people = [await join(site, 'Ada', room), await join(site, 'Ben', room)];
    for (const one of people) await connectsBy(one, 'sfu', 1);
    const films = await filmsFrom(t, `${site.web}/r/${room}`);
    const grow = (others: number) => async (): Promise<void> => {
      films.begin(1);
      for (const one of people) await connectsBy(one, 'sfu', others);
    };
    const first = await faultsOf(t, 'a third on the same relay', people, grow(2));
    const second = await faultsOf(t, 'a fourth on a second relay', people, grow(3));
    await oneIsElsewhere(site.stack.endpoints.relays);
    assert.deepEqual([...first, ...second], []);
  });
});

/** Resolves when three sessions are with one relay and the fourth is with the other. */
async function oneIsElsewhere(relays: readonly string[]): Promise<void> {
  let counts: readonly number[] = [];
  await until(async () => (counts = (await clientsOf(relays)).toSorted()).join() === '1,3', {
    withinMs: WITHIN_MS,
    what: () => `three sessions with one relay and one with the other: ${counts.join()}`,
  });
}

async function join(site: TestSite, name: string, room: string): Promise<Visitor> {
  const profile = await newProfile(site.browser, site.web, undefined, SIZES);
  await profile.addInitScript(holdSlate, SIZES.camera);
  await profile.addInitScript(speakWithoutPause, SYLLABLE_MS);
  const visitor = new Visitor(name, await profile.newPage());
  await visitor.enter(`${site.web}/r/${room}`);
  return visitor;
}

/** What of the bounds a change breaks, besides what stands still without it. */
async function faultsOf(
  t: TestContext,
  what: string,
  people: readonly Visitor[],
  change: () => Promise<void>,
): Promise<string[]> {
  const longest = async () => ({
    stillMs: await longestStill(people),
    silentMs: await longestSilence(people),
  });
  for (const one of people) await one.watch();
  for (const { page } of people) await listen(page);
  await pause(WATCHED_MS);
  const usual = await longest();
  await change();
  await pause(WATCHED_MS);
  const { stillMs, silentMs } = await longest();
  t.diagnostic(
    `${what}: no new picture for ${stillMs} ms (before ${usual.stillMs}), silent for ${silentMs} ms (before ${usual.silentMs})`,
  );
  return [
    ...(stillMs > STILL_MS + cappedStall(usual.stillMs - FRAME_MS)
      ? [`${what}: still for ${stillMs} ms`]
      : []),
    ...(silentMs > SILENT_MS + cappedStall(usual.silentMs - SYLLABLE_MS)
      ? [`${what}: silent for ${silentMs} ms`]
      : []),
  ];
}
