/** Mutes that hold, co-owners, and the end of a call for all: an owner, a guest whose page does not obey, and another guest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { newProfile } from '../support/browsers.ts';
import { mayIgnoreMessages } from '../support/ignored-messages.ts';
import { isLoud, isSilent } from '../support/loudspeaker.ts';
import { createRoom, keepOwnerKey } from '../support/owned-room.ts';
import { connectsBy } from '../support/paths.ts';
import { hearsOthers } from '../support/presence.ts';
import { withSite, type TestSite } from '../support/site.ts';
import { assertTakesAtMost } from '../support/stalls.ts';
import { until } from '../support/until.ts';
import { Visitor } from '../support/visitor.ts';
import { listen, receivedVoices } from '../support/voices.ts';

const WITHIN_MS = 20_000;
/** SPEC rule MOD-13, from the owner's click to all pages. */
const ENDED_WITHIN_MS = 2000;
/** Beeps are half a second apart. */
const BEEPS_HEARD = 4;

interface Three {
  readonly olga: Visitor;
  readonly gus: Visitor;
  readonly hana: Visitor;
  readonly ids: Readonly<Record<'olga' | 'gus' | 'hana', string>>;
}

describe('three pages whose media is from peer to peer', { timeout: 240_000 }, () => {
  const site = withSite();
  let three: Three;

  it('[MOD-15] no one hears a muted participant whose page ignores the mute and keeps sending, and all hear the others', async () => {
    three = await ownerAndGuests(site, 'seminar');
    const { olga, gus, hana, ids } = three;
    for (const one of [olga, gus, hana]) await hearsOthers(one, 2);
    await gus.page.evaluate(() => Object.assign(globalThis, { parleyIgnoresMessages: true }));
    await ask(olga.page, 'Gus', 'mute');
    await personIn(olga.page, 'Gus').getByText('Muted by an owner').waitFor();
    await Promise.all([hearsNot(olga, ids.gus, ids.hana), hearsNot(hana, ids.gus, ids.olga)]);
    assert.equal(await look(gus.page), 'plain', 'the page did not obey');
    const before = await sentSounds(gus.page);
    await until(async () => (await sentSounds(gus.page)) > before, {
      withinMs: WITHIN_MS,
      what: () => 'the page to keep sending',
    });
  });

  it('[MOD-14] [MOD-15] after a reload the page knows of the mute, and its microphone stays off until the owner lets it speak and it is switched on', async () => {
    const { olga, gus, hana, ids } = three;
    await gus.page.reload();
    const microphone = gus.page.getByTestId('control-microphone');
    await gus.page.getByTestId('muted-by-owner').waitFor({ timeout: WITHIN_MS });
    // Playwright waits for a button that is not `aria-disabled`; a user does not.
    await microphone.click({ force: true });
    await gus.page.getByText('when they let you speak').waitFor();
    assert.equal(await look(gus.page), 'off');
    await ask(olga.page, 'Gus', 'unmute');
    await gus.page.getByTestId('notice').getByText('You can speak again').waitFor();
    assert.equal(await look(gus.page), 'off');
    await microphone.click();
    await hears(hana, ids.gus);
  });

  it('[MOD-14] everyone but the owner is muted at once, also in their own pages', async () => {
    const { olga, gus, hana, ids } = three;
    await olga.page.getByTestId('switch-muted').check();
    for (const { page } of [gus, hana]) {
      await page.getByTestId('muted-by-owner').waitFor();
      assert.equal(await look(page), 'off');
    }
    await hearsNot(hana, ids.gus, ids.olga);
    await isSilent(olga);
    await olga.page.getByTestId('switch-muted').uncheck();
    for (const { page } of [gus, hana])
      await page.getByTestId('muted-by-owner').waitFor({ state: 'detached' });
  });

  it('[MOD-16] the page of a guest has the commands of an owner while the owner lets it, also after a reload', async () => {
    const { olga, gus, hana } = three;
    const mutes = async (action: 'mute' | 'unmute'): Promise<void> => {
      await gus.page.getByTestId('control-people').click();
      await ask(gus.page, 'Hana', action);
    };
    await ask(olga.page, 'Gus', 'make-co-owner');
    await personIn(olga.page, 'Gus').getByText('Co-owner').waitFor();
    await gus.page.getByTestId('notice').getByText('You are a co-owner now').waitFor();
    await mutes('mute');
    await hana.page.getByTestId('muted-by-owner').waitFor();
    await gus.page.reload();
    await gus.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: WITHIN_MS });
    await mutes('unmute');
    await hana.page.getByTestId('muted-by-owner').waitFor({ state: 'detached' });
    await personIn(gus.page, 'Hana').getByTestId('person-menu').click();
    assert.equal(await personIn(gus.page, 'Hana').getByTestId('make-co-owner').count(), 0);
    await ask(olga.page, 'Gus', 'remove-co-owner');
    await personIn(gus.page, 'Hana').getByTestId('person-menu').waitFor({ state: 'detached' });
    await personIn(olga.page, 'Gus').getByText('Co-owner').waitFor({ state: 'detached' });
  });

  it('[MOD-13] the owner ends the call for all: each page says so and stays ended, and the room opens again', async () => {
    const { olga, gus, hana } = three;
    const everyone = [olga, gus, hana];
    const joins: string[] = [];
    for (const { page } of everyone)
      page.on('request', (request) => void (request.url().endsWith('/join') && joins.push(request.url())));
    await olga.page.getByTestId('end-call').click();
    await assertTakesAtMost(ENDED_WITHIN_MS, 'the end of the call', async () => {
      await olga.page.getByTestId('end-call-confirm').click();
      await Promise.all(everyone.map(({ page }) => page.getByTestId('ended-CALL_ENDED').waitFor()));
    });
    // Longer than the first pause of a client that reconnects.
    await hana.page.waitForTimeout(3000);
    for (const { page } of everyone) assert.ok(await page.getByTestId('ended-CALL_ENDED').isVisible());
    assert.deepEqual(joins, []);
    await hana.page.getByTestId('next-rejoin').click();
    await hana.page.getByTestId('join').click();
    await hana.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: WITHIN_MS });
    assert.equal(await hana.page.locator('[data-testid=tile]:not([data-self])').count(), 0);
    for (const one of everyone) await one.leave();
  });
});

describe('three pages whose media goes through relays', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '1' });

  it('[MOD-15] no one hears a muted participant whose page ignores the mute, until it may speak', async () => {
    const { olga, gus, hana } = await ownerAndGuests(site, 'lecture');
    for (const one of [olga, gus, hana]) await connectsBy(one, 'sfu', 2);
    for (const { page } of [olga, hana]) await page.getByTestId('control-microphone').click();
    for (const one of [olga, hana]) await isLoud(one);
    await gus.page.evaluate(() => Object.assign(globalThis, { parleyIgnoresMessages: true }));
    await ask(olga.page, 'Gus', 'mute');
    for (const one of [olga, hana]) await isSilent(one);
    assert.equal(await look(gus.page), 'plain', 'the page did not obey');
    await ask(olga.page, 'Gus', 'unmute');
    for (const one of [olga, hana]) await isLoud(one);
  });
});

async function ownerAndGuests(site: TestSite, name: string): Promise<Three> {
  const owned = await createRoom(site, { name });
  const link = `${site.web}/r/${owned.room}`;
  const enter = async (who: string, affinity: string, isOwner = false): Promise<Visitor> => {
    const profile = await newProfile(site.browser, site.web, affinity);
    await profile.addInitScript(mayIgnoreMessages);
    if (isOwner) await profile.addInitScript(keepOwnerKey, owned);
    const visitor = new Visitor(who, await profile.newPage());
    await visitor.enter(link);
    await listen(visitor.page);
    return visitor;
  };
  const olga = await enter('Olga', 'a', true);
  const gus = await enter('Gus', 'b');
  const hana = await enter('Hana', 'c');
  await olga.page.getByTestId('control-people').click();
  const ids = {
    olga: await olga.participant(),
    gus: await gus.participant(),
    hana: await hana.participant(),
  };
  return { olga, gus, hana, ids };
}

const personIn = (page: Page, name: string) => page.getByTestId('person').filter({ hasText: name });

/** By the owner, whose list of people is open. */
async function ask(
  page: Page,
  name: string,
  action: 'mute' | 'unmute' | 'make-co-owner' | 'remove-co-owner',
): Promise<void> {
  await personIn(page, name).getByTestId('person-menu').click();
  await personIn(page, name).getByTestId(action).click();
}

const look = (page: Page): Promise<string | null> =>
  page.getByTestId('control-microphone').getAttribute('data-look');

const beepsOf = async ({ page }: Visitor, of: string): Promise<number> =>
  (await receivedVoices(page)).find((voice) => voice.of === of)?.beeps ?? 0;

async function hears(who: Visitor, of: string): Promise<void> {
  const before = await beepsOf(who, of);
  await until(async () => (await beepsOf(who, of)) >= before + BEEPS_HEARD, {
    withinMs: WITHIN_MS,
    what: () => `${who.name} to hear ${of}`,
  });
}

/** Resolves when nothing was heard of the one while the other was. */
async function hearsNot(who: Visitor, silent: string, other: string): Promise<void> {
  let heard = Number.NaN;
  await until(
    async () => {
      const before = await beepsOf(who, silent);
      await hears(who, other);
      heard = (await beepsOf(who, silent)) - before;
      return heard === 0;
    },
    { withinMs: WITHIN_MS, what: () => `${who.name} not to hear ${silent}: ${heard} beeps` },
  );
}

/** The packets of sound that the page has sent. */
const sentSounds = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const { parleyConnections } = globalThis as unknown as { parleyConnections: RTCPeerConnection[] };
    let packets = 0;
    for (const connection of parleyConnections)
      for (const row of (await connection.getStats()).values() as Iterable<Record<string, unknown>>)
        if (row['type'] === 'outbound-rtp' && row['kind'] === 'audio') packets += Number(row['packetsSent']);
    return packets;
  });
