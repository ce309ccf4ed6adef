import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { newProfile } from '../support/browsers.ts';
import { createRoom, keepOwnerKey } from '../support/owned-room.ts';
import { withSite } from '../support/site.ts';
import { assertTakesAtMost } from '../support/stalls.ts';
import { joinOnOtherPod, newRoom, Visitor } from '../support/visitor.ts';

const ROOM = 'study-group@local';
/** SPEC rule MOD-2, from the click to both pages. */
const REMOVED_WITHIN_MS = 2000;

describe('an owner and guests on different pods', { timeout: 300_000 }, () => {
  const site = withSite();
  let owner: Visitor;
  let guest: Visitor;

  it('[MOD-5] [MOD-7] the landing page creates a room with a lobby and a cap, and its creator joins as the owner', async () => {
    const page = await (await newProfile(site.browser, site.web, 'a')).newPage();
    await page.goto(site.web);
    await page.getByTestId('named-room').click();
    await page.getByTestId('room-name').fill('study-group');
    await page.getByTestId('room-cap').fill('5');
    await page.getByTestId('room-lobby-choice').check();
    await page.getByTestId('create-room').click();
    await page.getByTestId('open-room').click();
    owner = new Visitor('Olga', page);
    await owner.enter(`${site.web}/r/${ROOM}`);
    await page.getByTestId('room-lobby').waitFor();
    await openPeople(page);
    await page.getByTestId('owner-badge').waitFor();
    await page.getByTestId('room-section').getByText('At most 5 people').waitFor();
    await closePeople(page);
  });

  it('[MOD-5] a guest on another pod waits in the lobby, sees no participant, and is in the call once admitted', async () => {
    // A room of its own shows which pod the edge chooses for this browser.
    const { page } = await joinOnOtherPod(owner, site, { name: 'Gus', room: newRoom() });
    await page.goto(`${site.web}/r/${ROOM}`);
    await page.getByTestId('lobby-ahead').waitFor();
    await enterLobby(page);
    assert.equal(await page.getByTestId('tile').count(), 0);
    await page.getByTestId('prejoin-camera').click();
    await page.getByText('Your camera is off').waitFor();
    await page.getByTestId('prejoin-camera').click();
    await owner.page.locator('[data-testid=badge-people][data-count="1"]').waitFor();
    await owner.page.getByTestId('lobby-request').getByText('Gus').waitFor();
    await owner.page.getByTestId('lobby-request-admit').click();
    await inCall(page);
    guest = new Visitor('Gus', page);
    assert.notEqual(await guest.pod(), await owner.pod());
    await Promise.all([owner.receivesMedia(1), guest.receivesMedia(1)]);
    assert.equal(await owner.page.getByTestId('lobby-request').count(), 0);
  });

  it('[MOD-5] the lobby survives a reload of the page of the owner, who is still the owner and denies the newcomer', async () => {
    const page = await (await newProfile(site.browser, site.web)).newPage();
    await page.goto(`${site.web}/r/${ROOM}`);
    await enterLobby(page, 'Nosy');
    await owner.page.getByTestId('lobby-request').getByText('Nosy').waitFor();
    await owner.page.reload();
    await owner.page.getByTestId('lobby-request').getByText('Nosy').waitFor({ timeout: 30_000 });
    await owner.page.getByTestId('lobby-request-deny').click();
    await page.getByTestId('ended-LOBBY_DENIED').waitFor();
    await page.getByTestId('next-ask-again').click();
    await owner.page.getByTestId('lobby-request').getByText('Nosy').waitFor();
    await page.getByTestId('stop-waiting').click();
    await owner.page.getByTestId('lobby-request').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('[MOD-4] the owner asks to mute; the guest decides', async () => {
    const microphone = (look: string) =>
      guest.page.locator(`[data-testid=control-microphone][data-look=${look}]`).waitFor();
    await ask('request-mute');
    await guest.page.getByTestId('mute-no').click();
    await microphone('plain');
    await ask('request-mute');
    await guest.page.getByTestId('mute-yes').click();
    await microphone('off');
    await person('Gus').getByText('muted').waitFor({ state: 'attached' });
  });

  it('[MOD-1] the owner kicks the guest, whose page shows it and who may join again', async () => {
    await openMenu();
    await assertTakesAtMost(REMOVED_WITHIN_MS, 'the removal', async () => {
      await person('Gus').getByTestId('kick').click();
      await isRemoved('KICKED');
    });
    await guest.page.getByTestId('next-ask-again').click();
    await enterLobby(guest.page);
    await admitFromList('Gus');
    await inCall(guest.page);
    await Promise.all([owner.receivesMedia(1, 1), guest.receivesMedia(1, 1)]);
  });

  it('[MOD-2] [MOD-8] a banned device is disconnected within 2 s and refused by every pod, until the ban is lifted', async () => {
    await ask('ban');
    await assertTakesAtMost(REMOVED_WITHIN_MS, 'the ban', async () => {
      await owner.page.getByTestId('ban-confirm').click();
      await isRemoved('BANNED');
    });
    for (const affinity of ['a', 'b', 'c', 'd']) {
      await guest.page.context().addCookies([{ name: 'parley-affinity', value: affinity, url: site.web }]);
      const refused = guest.page.waitForResponse((response) => response.url().endsWith('/join'));
      await guest.page.getByTestId('next-retry').click();
      assert.equal((await refused).status(), 403);
      await guest.page.getByTestId('ended-BANNED').waitFor();
    }
    await owner.page.getByTestId('bans').click();
    await owner.page.getByTestId('banned').getByText('Gus').waitFor();
    await owner.page.getByTestId('unban').click();
    await owner.page.getByTestId('no-bans').waitFor();
    await guest.page.getByTestId('next-retry').click();
    await guest.page.getByTestId('lobby').waitFor();
    await admitFromList('Gus');
    await inCall(guest.page);
  });

  it('[MOD-5] [RES-4] an owner whose pod ends is the owner on another pod, and receives the list of the lobby', async (t) => {
    // A guest who waits on the pod that dies enters the lobby again; this one waits on another pod.
    const { page } = await joinOnOtherPod(owner, site, { name: 'Nosy', room: newRoom() });
    await page.goto(`${site.web}/r/${ROOM}`);
    await enterLobby(page, 'Nosy');
    await waiting('Nosy').waitFor();
    const pod = await owner.pod();
    t.after(() => site.stack.restart(pod));
    site.stack.kill(pod, 'SIGKILL');
    await owner.resumesOnOtherPod(pod);
    await waiting('Nosy').getByTestId('deny').click();
    await page.getByTestId('ended-LOBBY_DENIED').waitFor();
    await page.context().close();
  });

  it('[MOD-3] a locked room admits only its owner; present participants stay and may reload', async () => {
    await owner.page.getByTestId('switch-locked').check();
    await guest.page.getByTestId('room-locked').waitFor();
    const late = await (await newProfile(site.browser, site.web)).newPage();
    await arrive(late, 'Lee');
    await late.getByTestId('ended-ROOM_LOCKED').waitFor();
    await guest.page.reload();
    await inCall(guest.page);
    await owner.page.getByTestId('switch-locked').uncheck();
    await guest.page.getByTestId('room-locked').waitFor({ state: 'detached' });
    await late.getByTestId('next-retry').click();
    await late.getByTestId('lobby').waitFor();
    await owner.page.getByTestId('switch-lobby').uncheck();
    await inCall(late);
    await late.context().close();
  });

  it('[MOD-8] a ban of the network refuses all participants there except the owner', async () => {
    await ask('ban');
    await owner.page.getByTestId('ban-network').check();
    await assertTakesAtMost(REMOVED_WITHIN_MS, 'the ban of the network', async () => {
      await owner.page.getByTestId('ban-confirm').click();
      await isRemoved('BANNED');
    });
    const neighbour = await (await newProfile(site.browser, site.web)).newPage();
    await arrive(neighbour, 'Lee');
    await neighbour.getByTestId('ended-BANNED').waitFor();
    const second = await owner.page.context().newPage();
    await second.goto(`${site.web}/r/${ROOM}`);
    await second.getByTestId('join').click();
    await inCall(second);
    await second.close();
    await openPeople(owner.page);
    await owner.page.getByTestId('unban').click();
    await neighbour.getByTestId('next-retry').click();
    await inCall(neighbour);
    await neighbour.context().close();
  });

  it('[ROOM-6] a participant with the key of another room is a guest, and the page shows it', async () => {
    const page = await (await newProfile(site.browser, site.web)).newPage();
    await page.addInitScript((room) => localStorage.setItem(`parley.owner.${room}`, 'another key'), ROOM);
    await arrive(page, 'Lee');
    await inCall(page);
    await openPeople(page);
    await page.getByTestId('key-refused').waitFor();
    assert.equal(await page.getByTestId('person-menu').count(), 0);
    await page.context().close();
    await guest.leave();
    await owner.leave();
  });

  const person = (name: string) => owner.page.getByTestId('person').filter({ hasText: name });

  /** From the menu of the guest in the owner's list of people. */
  async function ask(action: 'request-mute' | 'ban'): Promise<void> {
    await openMenu();
    await person('Gus').getByTestId(action).click();
  }

  async function openMenu(): Promise<void> {
    await openPeople(owner.page);
    await person('Gus').getByTestId('person-menu').click();
  }

  /** Resolves when the guest's page shows the end of its call and the owner's list does not contain the guest. */
  async function isRemoved(code: 'KICKED' | 'BANNED'): Promise<void> {
    await Promise.all([
      guest.page.getByTestId(`ended-${code}`).waitFor(),
      person('Gus').waitFor({ state: 'detached' }),
    ]);
  }

  const waiting = (name: string) => owner.page.getByTestId('waiting-person').filter({ hasText: name });

  async function admitFromList(name: string): Promise<void> {
    await openPeople(owner.page);
    await waiting(name).getByTestId('admit').click({ timeout: 10_000 });
  }

  async function arrive(page: Page, name: string): Promise<void> {
    await page.goto(`${site.web}/r/${ROOM}`);
    await page.getByTestId('name-input').fill(name);
    await page.getByTestId('join').click();
  }
});

describe('an owner of a room without a lobby', { timeout: 120_000 }, () => {
  const site = withSite();

  it('[MOD-1] removes a guest, who is back only when the owner lets it in, also after a reload and in another tab, while others enter', async () => {
    const owned = await createRoom(site, { name: 'garden' });
    const link = `${site.web}/r/${owned.room}`;
    const enter = async (name: string, isOwner = false): Promise<Visitor> => {
      const profile = await newProfile(site.browser, site.web);
      if (isOwner) await profile.addInitScript(keepOwnerKey, owned);
      const visitor = new Visitor(name, await profile.newPage());
      await visitor.enter(link);
      return visitor;
    };
    const [olga, gus] = [await enter('Olga', true), await enter('Gus')];
    await olga.page.getByTestId('control-people').click();
    const person = (name: string) => olga.page.getByTestId('person').filter({ hasText: name });
    await person('Gus').getByTestId('person-menu').click();
    await person('Gus').getByTestId('kick').click();
    await gus.page.getByTestId('ended-KICKED').waitFor();
    await gus.page.getByTestId('next-ask-again').click();
    await enterLobby(gus.page);
    await gus.page.reload();
    await gus.page.getByTestId('lobby').waitFor();
    const tab = await gus.page.context().newPage();
    await tab.goto(link);
    await enterLobby(tab, 'Gus');
    await tab.close();
    const hana = await enter('Hana');
    await person('Hana').waitFor();
    assert.equal(await person('Gus').count(), 0);
    await olga.page.getByTestId('waiting-person').getByTestId('admit').click();
    await inCall(gus.page);
    for (const one of [olga, gus, hana]) assert.deepEqual([one.errors, one.lines], [[], []]);
  });
});

async function enterLobby(page: Page, name = 'Gus'): Promise<void> {
  await page.getByTestId('name-input').fill(name);
  await page.getByTestId('join').click();
  await page.getByTestId('lobby').waitFor({ timeout: 15_000 });
}

const inCall = (page: Page): Promise<void> =>
  page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 20_000 });

async function openPeople(page: Page): Promise<void> {
  if (await page.getByTestId('people-panel').isVisible()) return;
  await page.getByTestId('control-people').click();
  await page.getByTestId('people-panel').waitFor();
}

async function closePeople(page: Page): Promise<void> {
  await page.getByTestId('control-people').click();
  await page.getByTestId('people-panel').waitFor({ state: 'detached' });
}
