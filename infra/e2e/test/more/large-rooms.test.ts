/** Rooms with more participants than a mesh supports: real browsers, edge, pods and media relays. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Terminal } from '@parley/local/terminal';
import type { Person } from '../../support/any-page.ts';
import { colorsOf, keepsColors } from '../../support/colors.ts';
import { filmsFrom } from '../../support/films.ts';
import { end, relayInUse, relaysAreReady, sessionsBecome } from '../../support/live-relays.ts';
import { opened } from '../../support/opened.ts';
import { commonCode } from '../../support/common-code.ts';
import { switchMicrophone } from '../../support/controls.ts';
import { callPathOf, connectsBy, MOVED_WITHIN_MS, pathsOf } from '../../support/paths.ts';
import {
  longestSilence,
  longestStill,
  participantOf,
  receivesOthers,
  seesPictures,
} from '../../support/presence.ts';
import { joinAsPuppet, launchFirefox } from '../../support/puppets.ts';
import { withSite } from '../../support/site.ts';
import { assertTakesAtMost, cappedStall } from '../../support/stalls.ts';
import { startSoundCard } from '../../support/sound-card.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';
import { listen } from '../../support/voices.ts';

const SIZES = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };
/** Six tiles fit above the pager. */
const SIX_TILES = { ...SIZES, page: { width: 480, height: 400 } };
const USUAL_MS = 5000;
/** Added to the longest freeze before the move, of which at most `MAX_STALL_MS` count. */
const STILL_MS = 2500;
/** Beeps are half a second apart: two or three are lost at most. 0.7 to 1.1 s were seen. */
const SILENT_MS = 2000;
/** From the end of the join to a picture of each other participant. */
const LATE_MS = 1000;
/** Ten pictures of a camera take a second. 1 to 3 s were seen. */
const TOGETHER_MS = 6000;
/** A participant whose relay ended asks for another one and connects to it. */
const BACK_MS = { stillMs: 5000, silentMs: 5000 };

describe('a room', { timeout: 420_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MEDIA-12] [MEDIA-14] goes through relays when there are five, two of them terminals, and back when the terminals leave: no participant is missing meanwhile, and colors stay', async (t) => {
    const room = newRoom();
    const people: Visitor[] = [];
    for (const name of ['Ada', 'Ben', 'Cem'])
      people.push(await Visitor.join(site.browser, { name, web: site.web, room, sizes: SIZES }));
    for (const one of people) await connectsBy(one, 'mesh', 2);
    for (const one of people) await seesPictures(one, 2);
    const colors = await Promise.all(people.map(colorsOf));

    const films = await filmsFrom(t, `${site.web}/r/${room}`);
    const there = await watched(t, 'mesh to relay', people, async () => {
      films.begin(2);
      for (const one of people) await connectsBy(one, 'sfu', 4);
    });
    assert.deepEqual(await connections(people), [0, 0, 0], 'no participant has a direct connection');
    assertBounded(there);
    for (const [at, one] of people.entries()) await keepsColors(one, colors[at] ?? new Map());

    const back = await watched(t, 'relay to mesh', people, async () => {
      films.end();
      for (const one of people) await connectsBy(one, 'mesh', 2);
    });
    assertBounded(back);
    for (const [at, one] of people.entries()) await keepsColors(one, colors[at] ?? new Map());
    for (const one of people) assert.deepEqual([one.errors, one.lines], [[], []]);
  });

  /** Two processors do not show seven pictures in three pages: some are paused. */
  it('[MEDIA-14] of seven writes no line to a console, with the seventh on a page of tiles of its own', async (t) => {
    const room = newRoom();
    const people: Visitor[] = [];
    const lines: string[] = [];
    for (const name of ['Ada', 'Ben', 'Cem']) {
      const visitor = await Visitor.join(site.browser, { name, web: site.web, room, sizes: SIX_TILES });
      // Also those that the browser itself writes.
      visitor.page.on('console', (line) => lines.push(`${name}: ${line.type()} ${line.text()}`));
      people.push(visitor);
    }
    (await filmsFrom(t, `${site.web}/r/${room}`)).begin(4);
    for (const one of people) {
      await one.page.getByTestId('pager').waitFor({ timeout: MOVED_WITHIN_MS });
      await connectsBy(one, 'sfu', 5);
      await one.page.getByTestId('page-next').click();
      await connectsBy(one, 'sfu', 1);
      await seesPictures(one, 1);
      await one.page.getByTestId('page-before').click();
      await connectsBy(one, 'sfu', 5);
    }
    for (const one of people) assert.deepEqual([one.errors, one.lines], [[], []]);
    assert.deepEqual(lines, []);
  });

  it('with two browsers and a terminal says in each browser that relays carry what it sends to the terminal, and nothing of the kind before and afterwards', async (t) => {
    const room = newRoom();
    const join = (name: string) => Visitor.join(site.browser, { name, web: site.web, room, sizes: SIZES });
    const people = [await join('Ada'), await join('Ben')];
    for (const one of people) {
      await connectsBy(one, 'mesh', 1);
      await saysFromBrowserToBrowser(one);
    }
    await commonCode(people);

    const films = await filmsFrom(t, `${site.web}/r/${room}`);
    films.begin(1, 'join', '--log', '--publish');
    for (const one of people) {
      await until(async () => (await callPathOf(one)).reason === 'requested', {
        withinMs: MOVED_WITHIN_MS,
        what: () => `the header of ${one.name} to show why media goes through relays`,
      });
      assert.deepEqual(await callPathOf(one), { path: 'sfu', reason: 'requested' });
      await one.page.click('[data-testid=open-path]');
      const text = await one.page.textContent('[data-testid=path-dialog]');
      assert.match(text ?? '', /Relays can read them/);
      await one.page.keyboard.press('Escape');
    }
    const labelsOf = async ({ page }: Visitor): Promise<string[]> =>
      (
        await page
          .getByTestId('tile-link')
          .evaluateAll((links) => links.map((link) => link.getAttribute('aria-label') ?? ''))
      ).toSorted();
    for (const one of people)
      await until(async () => (await pathsOf(one)).toSorted().join() === 'direct,sfu', {
        withinMs: MOVED_WITHIN_MS,
        what: () =>
          `${one.name} to be connected directly with the other browser, and by relays with the terminal`,
      });
    for (const one of people) {
      const [first = '', second = ''] = await labelsOf(one);
      assert.match(first, /^Connection with (?:Ada|Ben): .*, direct$/);
      assert.match(second, /^Connection with Film 1: .*, through media relays$/);
      for (const [path, readable] of [
        ['direct', 'false'],
        ['sfu', 'true'],
      ]) {
        const mark = one.page.locator(`[data-testid=tile][data-path=${path}] [data-testid=privacy]`);
        assert.equal(await mark.getAttribute('data-readable'), readable, path);
      }
      // No code stands for both.
      await one.page.click('[data-testid=open-path]');
      await pause(CODE_SHOWN_MS);
      assert.equal(await one.page.getByTestId('security-code').count(), 0);
      await one.page.keyboard.press('Escape');
    }

    films.end();
    for (const one of people) {
      await connectsBy(one, 'mesh', 1);
      await saysFromBrowserToBrowser(one);
    }
  });
});

/** A page looks for the code each second, and derives it within another one. */
const CODE_SHOWN_MS = 2500;

/** The dialog about the path of the call. */
async function saysFromBrowserToBrowser({ page }: Visitor): Promise<void> {
  await page.click('[data-testid=open-path]');
  const text = await page.textContent('[data-testid=path-dialog] p');
  assert.match(text ?? '', /^Voice and video are encrypted from browser to browser/);
  await page.keyboard.press('Escape');
}

describe('a room that Firefox is in', { timeout: 420_000 }, () => {
  const site = withSite();
  const firefox = opened(async (keep) => keep(await launchFirefox(keep(await startSoundCard()))));
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  /** Of the others only one has a page: each page decodes what all others send, and two processors are enough for two of them. */
  it('[MEDIA-12] goes through relays when there are five, three of them terminals, and back when these leave: each sees and hears all others each time', async (t) => {
    const room = newRoom();
    const link = `${site.web}/r/${room}`;
    const fox = await joinAsPuppet(firefox(), link, 'Fox');
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room, sizes: SIZES });
    const people = [fox, ada];
    for (const { page } of people) await listen(page);
    await together(t, 'mesh', people, 1);

    const films = await filmsFrom(t, link);
    const terminals = films.begin(3, 'join', '--log', '--publish');
    await together(t, 'sfu', people, 4);
    const ids = await Promise.all(people.map(participantOf));
    for (const terminal of terminals) await assertReceives(terminal, ids);

    films.end();
    await together(t, 'mesh', people, 1);
    assert.deepEqual(ada.errors, []);
    await fox.page.close();
  });
});

/** Three participants are enough here. */
describe('a room through relays', { timeout: 420_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '2' });
  beforeEach(() => relaysAreReady(site.stack));
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));
  const join = (name: string, room: string) =>
    Visitor.join(site.browser, { name, web: site.web, room, sizes: SIZES });

  it('[MEDIA-10] goes on when its relay is killed', async (t) => {
    const room = newRoom();
    const people = [await join('Ada', room), await join('Ben', room), await join('Cem', room)];
    for (const one of people) await connectsBy(one, 'sfu', 2);
    const relay = await relayInUse(site.stack);
    t.after(() => site.stack.restart(relay));
    const noticed = await watched(t, 'a relay killed', people, () => end(site.stack, relay, 'SIGKILL'));
    assertBounded(noticed, BACK_MS);
    for (const one of people) await connectsBy(one, 'sfu', 2);
  });

  it('[MEDIA-10] [MEDIA-14] hears a participant who unmutes after their relay was killed while they were muted', async (t) => {
    const room = newRoom();
    const [ada, ben, cem] = [await join('Ada', room), await join('Ben', room), await join('Cem', room)];
    for (const one of [ada, ben, cem]) await connectsBy(one, 'sfu', 2);
    await listen(ada.page);
    for (const to of ['off', 'plain', 'off'] as const) await switchMicrophone(ben, to);
    const relay = await relayInUse(site.stack);
    t.after(() => site.stack.restart(relay));
    await end(site.stack, relay, 'SIGKILL');
    await pause(BACK_MS.silentMs);
    for (const one of [ada, ben, cem]) await connectsBy(one, 'sfu', 2);
    await switchMicrophone(ben, 'plain');
    await receivesOthers(ada, 2);
  });

  it('[MEDIA-16] is sealed between participants whose link has the same key; one with another link connects to them directly', async () => {
    const room = newRoom();
    const withKey = `${room}#key=AAECAwQFBgcICQoLDA0ODw`;
    const [ada, ben] = [await join('Ada', withKey), await join('Ben', withKey)];
    const cem = await join('Cem', room);
    await until(
      async () => {
        const paths = [await pathsOf(ada), await pathsOf(ben), await pathsOf(cem)];
        return paths.map((one) => one.toSorted().join()).join(' ') === 'direct,sfu direct,sfu direct,direct';
      },
      {
        withinMs: MOVED_WITHIN_MS,
        what: () => 'Ada and Ben to meet at the relay, and Cem to meet both directly',
      },
    );
    await ada.page.getByTestId('open-path').getByText('End-to-end encrypted').waitFor();
    const there = await watched(null, '', [ada, ben, cem], () => Promise.resolve());
    assertBounded(there);
  });

  /** Two of the others are terminals: what they send costs the processors of this machine little, as that of a participant elsewhere does. */
  it('[MEDIA-14] shows all participants to a late one within a second', async (t) => {
    const room = newRoom();
    const ada = await join('Ada', room);
    (await filmsFrom(t, `${site.web}/r/${room}`)).begin(2);
    await connectsBy(ada, 'sfu', 2);
    const late = await join('Dora', room);
    const tookMs = await assertTakesAtMost(LATE_MS, 'three pictures', () => seesPictures(late, 3));
    t.diagnostic(`three pictures ${tookMs} ms after the call was connected`);
  });

  it('[MEDIA-14] shows what a terminal publishes', async (t) => {
    const room = newRoom();
    const people = [await join('Ada', room), await join('Ben', room)];
    (await filmsFrom(t, `${site.web}/r/${room}`)).begin(1);
    for (const one of people) await connectsBy(one, 'sfu', 2);
    const noticed = await watched(t, 'a film', people, () => Promise.resolve());
    assertBounded(noticed);
  });
});

/** Each participant is sent to the relay with the fewest participants (MEDIA-3). */
describe('a room through two relays', { timeout: 420_000 }, () => {
  const site = withSite({
    PARLEY_LIMIT_MESH_PARTICIPANTS: '1',
    PARLEY_LIMIT_MEDIA_PARTICIPANTS_PER_RELAY: '1',
  });
  beforeEach(() => relaysAreReady(site.stack));
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MEDIA-3] [MEDIA-10] is one room for browsers and terminals on both, and goes on when one of them is killed', async (t) => {
    const room = newRoom();
    const join = (name: string) => Visitor.join(site.browser, { name, web: site.web, room, sizes: SIZES });
    const people = [await join('Ada'), await join('Ben')];
    for (const one of people) await connectsBy(one, 'sfu', 1);
    const films = await filmsFrom(t, `${site.web}/r/${room}`);
    const terminals = films.begin(2, 'join', '--log', '--publish');
    for (const one of people) await connectsBy(one, 'sfu', 3);
    await sessionsBecome(site.stack.endpoints.relays, [2, 2]);

    const ids = await Promise.all(people.map((one) => one.participant()));
    const allSeeAndHearAll = async (): Promise<void> => {
      for (const one of people) await listen(one.page);
      for (const one of people) await receivesOthers(one, 3);
      for (const terminal of terminals) await assertReceives(terminal, ids);
    };
    await allSeeAndHearAll();
    t.after(() => site.stack.restart('relay-1'));
    const noticed = await watched(t, 'one of two relays killed', people, () =>
      end(site.stack, 'relay-1', 'SIGKILL'),
    );
    assertBounded(noticed, BACK_MS);
    await allSeeAndHearAll();
    await sessionsBecome(site.stack.endpoints.relays.slice(1), [4]);
  });
});

/** Asserts that all are connected with all others by this path, and see and hear them in time. */
async function together(
  t: TestContext,
  way: 'mesh' | 'sfu',
  people: readonly Person[],
  others: number,
): Promise<void> {
  for (const one of people) await connectsBy(one, way, others);
  for (const one of people) {
    const tookMs = await receivesOthers(one, others);
    t.diagnostic(`${way}: ${one.name} sees and hears ${others} within ${tookMs} ms`);
    assert.ok(tookMs <= TOGETHER_MS, `${one.name} took ${tookMs} ms`);
  }
}

/** Resolves when `parley join --log` has reported pictures and sounds of each of these participants from now on. */
async function assertReceives(terminal: Terminal, participants: readonly string[]): Promise<void> {
  const missing = new Set(participants.flatMap((one) => [`${one} camera`, `${one} microphone`]));
  const from = Date.now();
  while (missing.size > 0)
    await terminal.line('stdout', (line) => {
      const { timeMs, participant, track, frames } = JSON.parse(line) as JoinLine;
      const what = `${participant} ${track.split('/')[0]}`;
      return timeMs > from && frames > 0 && missing.delete(what);
    });
}

interface JoinLine {
  readonly timeMs: number;
  readonly participant: string;
  readonly track: string;
  readonly frames: number;
}

interface Gaps {
  readonly stillMs: number;
  readonly silentMs: number;
  readonly usual: { readonly stillMs: number; readonly silentMs: number };
}

/** The longest interruption of any picture and of any voice, for participants who were present all the time. */
async function watched(
  t: TestContext | null,
  what: string,
  people: readonly Visitor[],
  happens: () => Promise<void>,
): Promise<Gaps> {
  const here = [...people];
  for (const one of here) {
    await one.watch();
    await listen(one.page);
  }
  await pause(USUAL_MS);
  const usual = await longest(here);
  const begun = Date.now();
  await happens();
  const tookMs = Date.now() - begun;
  await pause(USUAL_MS);
  const found = await longest(here);
  t?.diagnostic(
    `${what} took ${tookMs} ms: longest still picture ${found.stillMs} ms (usually ${usual.stillMs}), between beeps ${found.silentMs} ms (usually ${usual.silentMs})`,
  );
  return { ...found, usual };
}

async function longest(people: readonly Visitor[]): Promise<{ stillMs: number; silentMs: number }> {
  return { stillMs: await longestStill(people), silentMs: await longestSilence(people) };
}

function assertBounded(
  { stillMs, silentMs, usual }: Gaps,
  max = { stillMs: STILL_MS, silentMs: SILENT_MS },
): void {
  assert.ok(stillMs <= max.stillMs + cappedStall(usual.stillMs), `a picture froze for ${stillMs} ms`);
  assert.ok(silentMs <= max.silentMs + cappedStall(usual.silentMs), `no sound for ${silentMs} ms`);
}

function connections(people: readonly Visitor[]): Promise<number[]> {
  return Promise.all(
    people.map(({ page }) =>
      page.evaluate(() => {
        const { parleyConnections } = globalThis as unknown as { parleyConnections: RTCPeerConnection[] };
        return parleyConnections.filter((one) => one.connectionState !== 'closed').length;
      }),
    ),
  );
}
