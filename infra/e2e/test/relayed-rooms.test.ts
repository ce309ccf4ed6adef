/** The sound of a room that goes through relays, and how it ends for a participant that is removed. */
import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { CreateRoomAnswer } from '@parley/protocol/http';
import { newProfile } from '../support/browsers.ts';
import { clientsOf, allSessionsEnded } from '../support/live-relays.ts';
import { switchMicrophone } from '../support/controls.ts';
import { connectsBy } from '../support/paths.ts';
import { receivesOthers } from '../support/presence.ts';
import { withSite } from '../support/site.ts';
import { assertTakesAtMost, cappedStall } from '../support/stalls.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';
import { listen, playedSound } from '../support/voices.ts';

const SIZES = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };
/** Beeps are half a second apart, and buffered sound is still played. */
const QUIET_MS = 2000;
const WITHIN_MS = 20_000;
const USUAL_MS = 5000;
/** Two or three beeps are lost at most. Added to the silence before the move, as in `large-rooms.test.ts`. */
const SILENT_MS = 2000;
/** SPEC rule MOD-2, from the owner's click to the end of the session with the relay, which takes ten seconds for a client that vanished. */
const REMOVED_WITHIN_MS = 2000;

describe('sound', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '3' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));
  const join = (name: string, room: string) =>
    Visitor.join(site.browser, { name, web: site.web, room, sizes: SIZES });

  it('[MEDIA-13] through relays is one stream, with each voice once, and none is missing while the room moves', async (t) => {
    const room = newRoom();
    const [ada, ben] = [await join('Ada', room), await join('Ben', room)];
    const cem = await joinMuted('Cem', room);
    for (const one of [ada, ben, cem]) await connectsBy(one, 'mesh', 2);

    let dora: Visitor | undefined;
    const there = await longestSilence(t, 'mesh to relay', [ada, ben], async () => {
      dora = await joinMuted('Dora', room);
      for (const one of [ada, ben]) await connectsBy(one, 'sfu', 3);
      for (const one of [ada, ben]) await playsOnly(one, ['mix']);
    });
    const back = await longestSilence(t, 'relay to mesh', [ada, ben], async () => {
      for (const one of [cem, dora]) await one?.page.getByTestId('control-leave').click();
      for (const one of [ada, ben]) await connectsBy(one, 'mesh', 1);
      await playsOnly(ada, [await ben.participant()]);
      await playsOnly(ben, [await ada.participant()]);
    });
    for (const most of [there, back]) assert.ok(most <= SILENT_MS, `nothing was played for ${most} ms`);
    for (const one of [ada, ben]) assert.deepEqual(one.errors, []);
  });

  it('[MEDIA-15] has the participants with a microphone on, and no others', async () => {
    const room = newRoom();
    const [ada, ben, cem] = [await join('Ada', room), await join('Ben', room), await join('Cem', room)];
    await joinMuted('Dora', room);
    await connectsBy(ada, 'sfu', 3);
    await listen(ada.page);
    await playsOnly(ada, ['mix']);
    for (const one of [ben, cem]) await switchMicrophone(one, 'off');
    await isSilent(ada);
    for (const one of [ben, cem]) {
      await switchMicrophone(one, 'plain');
      await isLoud(ada);
      await switchMicrophone(one, 'off');
      await isSilent(ada);
    }
  });

  /** With camera and microphone off. */
  async function joinMuted(name: string, room: string): Promise<Visitor> {
    const page = await (await newProfile(site.browser, site.web, undefined, SIZES)).newPage();
    await page.goto(`${site.web}/r/${room}`);
    for (const kind of ['microphone', 'camera']) {
      // A click before the device is open switches it on.
      await page.locator(`[data-testid=prejoin-${kind}][aria-pressed=true]`).click();
      await page.locator(`[data-testid=prejoin-${kind}][aria-pressed=false]`).waitFor();
    }
    await page.getByTestId('name-input').fill(name);
    await page.getByTestId('join').click();
    await page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: WITHIN_MS });
    return new Visitor(name, page);
  }
});

describe('a participant that is removed', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '1' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MOD-1] [MEDIA-7] is neither seen nor heard after the owner kicked it, and sends nothing', async () => {
    const { olga, gus } = await ownerAndGuest('to-kick');
    await openMenu(olga.page);
    await assertTakesAtMost(REMOVED_WITHIN_MS, 'the removal', async () => {
      await choose(olga.page, 'kick');
      await Promise.all([gus.page.getByTestId('ended-KICKED').waitFor(), isGone(olga)]);
    });
    await isSilent(olga);
    assert.equal(await gus.page.locator('audio').count(), 0);
  });

  it('[MOD-2] [MEDIA-7] loses the session with the relay because of a ban, also if its page ignores the messages of signaling', async () => {
    const { olga, gus } = await ownerAndGuest('to-ban');
    await gus.page.evaluate(() => Object.assign(globalThis, { parleyIgnoresMessages: true }));
    await openMenu(olga.page);
    await choose(olga.page, 'ban');
    await assertTakesAtMost(REMOVED_WITHIN_MS, 'the ban', async () => {
      await olga.page.getByTestId('ban-confirm').click();
      await isGone(olga);
    });
    assert.equal(await gus.page.getByTestId('call').count(), 1, 'the page ignored the ban');
    await isSilent(olga);
    await gus.page.evaluate(() => Object.assign(globalThis, { parleyIgnoresMessages: false }));
    await gus.page.getByTestId('ended-BANNED').waitFor({ timeout: WITHIN_MS });
    assert.equal(await clients(), 1);
  });

  const clients = async (): Promise<number> =>
    (await clientsOf(site.stack.endpoints.relays)).reduce((sum, count) => sum + count, 0);

  async function ownerAndGuest(name: string): Promise<{ readonly olga: Visitor; readonly gus: Visitor }> {
    await allSessionsEnded(site.stack);
    const answer = await fetch(`${site.stack.endpoints.api}/rooms`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    const { room, ownerKey } = (await answer.json()) as CreateRoomAnswer;
    const link = `${site.web}/r/${room.room}`;
    const profile = await newProfile(site.browser, site.web);
    await profile.addInitScript(([of, key]) => localStorage.setItem(`parley.owner.${of}`, key), [
      room.room,
      ownerKey,
    ] as const);
    const olga = new Visitor('Olga', await profile.newPage());
    const page = await (await newProfile(site.browser, site.web)).newPage();
    await page.addInitScript(mayIgnoreMessages);
    const gus = new Visitor('Gus', page);
    for (const one of [olga, gus]) await one.enter(link);
    for (const one of [olga, gus]) await connectsBy(one, 'sfu', 1);
    for (const one of [olga, gus]) await listen(one.page);
    for (const one of [olga, gus]) await receivesOthers(one, 1);
    await isLoud(olga);
    assert.equal(await clients(), 2);
    return { olga, gus };
  }

  const guestOf = (page: Page) => page.getByTestId('person').filter({ hasText: 'Gus' });

  async function openMenu(page: Page): Promise<void> {
    await page.getByTestId('control-people').click();
    await guestOf(page).getByTestId('person-menu').click();
  }

  async function choose(page: Page, action: 'kick' | 'ban'): Promise<void> {
    await guestOf(page).getByTestId(action).click();
  }

  /** Resolves when the guest has no session with a relay, and the owner's page no tile and no voice of it. */
  async function isGone(owner: Visitor): Promise<void> {
    let left = 0;
    await Promise.all([
      until(async () => (left = await clients()) === 1, {
        withinMs: WITHIN_MS,
        everyMs: 50,
        what: () => `the guest’s session with the relay to end: ${left} are left`,
      }),
      owner.page.locator('[data-testid=tile]:not([data-self])').waitFor({ state: 'detached' }),
    ]);
    assert.equal(await owner.page.getByTestId('voice').count(), 0);
  }
});

/** While `parleyIgnoresMessages` is set, the page receives no event of its WebSockets. Runs in the page. */
function mayIgnoreMessages(): void {
  const listens = (event: string): boolean =>
    !['message', 'close', 'error'].includes(event) || !Reflect.get(globalThis, 'parleyIgnoresMessages');
  const add = Reflect.get(WebSocket.prototype, 'addEventListener') as EventTarget['addEventListener'];
  WebSocket.prototype.addEventListener = function addEventListener(
    this: WebSocket,
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void {
    const listenUnlessIgnored = (event: Event): void => {
      if (!listens(type)) return;
      if (typeof listener === 'function') listener.call(this, event);
      else listener?.handleEvent(event);
    };
    add.call(this, type, listenUnlessIgnored, options);
  };
}

/** Resolves when exactly these elements play. Needs `listen`. */
async function playsOnly({ name, page }: Visitor, elements: readonly string[]): Promise<void> {
  const wanted = elements.toSorted().join();
  let now = '';
  await until(async () => (now = (await playedSound(page)).elements.toSorted().join()) === wanted, {
    withinMs: WITHIN_MS,
    what: () => `${name}’s page to play ${wanted}: it plays ${now}`,
  });
}

async function isSilent({ name, page }: Visitor): Promise<void> {
  let before = Number.NaN;
  await until(
    async () => {
      const { audibleMs } = await playedSound(page);
      const same = audibleMs === before;
      before = audibleMs;
      return same;
    },
    { withinMs: WITHIN_MS, everyMs: QUIET_MS, what: () => `${name}’s page to be silent` },
  );
}

async function isLoud({ name, page }: Visitor): Promise<void> {
  const before = (await playedSound(page)).beeps;
  await until(async () => (await playedSound(page)).beeps >= before + 3, {
    withinMs: WITHIN_MS,
    what: () => `${name}’s page to beep`,
  });
}

/** By how much the longest silence of any loudspeaker exceeds the one before, ms; of that at most `MAX_STALL_MS` count. */
async function longestSilence(
  t: TestContext,
  what: string,
  people: readonly Visitor[],
  happens: () => Promise<void>,
): Promise<number> {
  const longest = async (): Promise<number> =>
    Math.max(
      ...(await Promise.all(people.map(({ page }) => playedSound(page)))).map(({ silentMs }) => silentMs),
    );
  for (const { page } of people) await listen(page);
  await pause(USUAL_MS);
  const usual = await longest();
  await happens();
  await pause(USUAL_MS);
  const found = await longest();
  t.diagnostic(`${what}: ${found} ms between beeps of what was played (usually ${usual})`);
  return found - cappedStall(usual);
}
