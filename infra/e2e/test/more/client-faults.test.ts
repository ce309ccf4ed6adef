/** Faults of a participant's computer, through relays and from peer to peer. */
import { afterEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { unplug } from '../../support/browsers.ts';
import { opened } from '../../support/opened.ts';
import { connectsBy } from '../../support/paths.ts';
import { receivesOthers } from '../../support/presence.ts';
import { joinAsPuppet, launchFirefox, launchTabs, sleep } from '../../support/puppets.ts';
import { withSite } from '../../support/site.ts';
import { startSoundCard } from '../../support/sound-card.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';
import { listen } from '../../support/voices.ts';

/** Longer than a socket is given to answer a ping. */
const ASLEEP_MS = 20_000;
/** With all its processes, and for nearly as long as a participant may be away. */
const DEEP_SLEEP_MS = 25_000;
const BEHIND_MS = 10_000;
/** Long enough for a path that works for a moment only to fail. */
const STEADY_MS = 4000;

const WAYS = {
  sfu: { name: 'a room through relays', env: { PARLEY_LIMIT_MESH_PARTICIPANTS: '1' } },
  mesh: { name: 'a call from peer to peer', env: {} },
} as const;

for (const way of ['sfu', 'mesh'] as const)
  describe(WAYS[way].name, { timeout: 240_000 }, () => {
    const site = withSite(WAYS[way].env);
    afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));
    const join = (name: string, room: string) => Visitor.join(site.browser, { name, web: site.web, room });

    it('[MEDIA-12] continues with other devices when camera and microphone are unplugged', async (t) => {
      const [ada, ben] = await two();
      await unplug(ada.page);
      t.diagnostic(`seen and heard after ${await receivesOthers(ben, 1)} ms`);
    });

    it('[MEDIA-12] continues when a computer wakes up', async (t) => {
      const [ada, ben] = await two();
      const browser = await ada.page.context().newCDPSession(ada.page);
      await browser.send('Page.setWebLifecycleState', { state: 'frozen' });
      await pause(ASLEEP_MS);
      await browser.send('Page.setWebLifecycleState', { state: 'active' });
      t.diagnostic(`sees and hears after ${await receivesOthers(ada, 1)} ms`);
      await receivesOthers(ben, 1);
    });

    async function two(): Promise<[Visitor, Visitor]> {
      const room = newRoom();
      const [ada, ben] = [await join('Ada', room), await join('Ben', room)];
      for (const one of [ada, ben]) await connectsBy(one, way, 1);
      for (const { page } of [ada, ben]) await listen(page);
      for (const one of [ada, ben]) await receivesOthers(one, 1);
      return [ada, ben];
    }
  });

describe('a computer that sleeps', { timeout: 240_000 }, () => {
  const site = withSite();
  const sleeping = opened(async (keep) => keep(await launchTabs()));

  it('[MEDIA-12] [RES-1] is in its call from peer to peer again when it wakes up, with media and chat both ways', async (t) => {
    const room = newRoom();
    const ben = await Visitor.join(site.browser, { name: 'Ben', web: site.web, room });
    const ada = await joinAsPuppet(sleeping(), `${site.web}/r/${room}`, 'Ada');
    for (const one of [ada, ben]) await connectsBy(one, 'mesh', 1);
    await Promise.all([ada.receivesMedia(1), ben.receivesMedia(1)]);
    const wokeAt = await sleep(sleeping(), DEEP_SLEEP_MS);
    await ada.page.waitForSelector('[data-testid=call][data-status=connected]');
    await Promise.all([ada.receivesMedia(1), ben.receivesMedia(1)]);
    t.diagnostic(`media both ways ${Date.now() - wokeAt} ms after it woke up`);
    await ben.sendChat('good morning');
    await ada.receivesChat('good morning');
    await ada.sendChat('morning');
    await ben.receivesChat('morning');
    await ada.page.close();
    await ben.leave();
  });
});

describe('a room through relays', { timeout: 240_000 }, () => {
  const site = withSite(WAYS.sfu.env);
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));
  const join = (name: string, room: string) => Visitor.join(site.browser, { name, web: site.web, room });

  const tabs = opened(async (keep) => keep(await launchTabs()));
  it('[MEDIA-12] continues in a tab behind another one', async () => {
    const room = newRoom();
    const ada = await joinAsPuppet(tabs(), `${site.web}/r/${room}`, 'Ada');
    const ben = await join('Ben', room);
    for (const one of [ada, ben]) await connectsBy(one, 'sfu', 1);
    for (const { page } of [ada, ben]) await listen(page);
    const other = await tabs().newPage();
    await other.bringToFront();
    await until(() => ada.page.evaluate(() => document.visibilityState === 'hidden'), {
      withinMs: BEHIND_MS,
      what: () => 'the tab to be behind another one',
    });
    await pause(BEHIND_MS);
    await receivesOthers(ben, 1);
    await ada.page.bringToFront();
    await receivesOthers(ada, 1);
    await other.close();
    await ada.page.close();
  });

  const firefox = opened(async (keep) => keep(await launchFirefox(keep(await startSoundCard()))));
  it('[MEDIA-12] shows Firefox to Chromium, and Chromium to Firefox', async (t) => {
    const room = newRoom();
    const ada = await join('Ada', room);
    const fox = await joinAsPuppet(firefox(), `${site.web}/r/${room}`, 'Fox');
    for (const one of [ada, fox]) await connectsBy(one, 'sfu', 1);
    for (const { page } of [ada, fox]) await listen(page);
    await pause(STEADY_MS);
    t.diagnostic(
      `Chromium after ${await receivesOthers(ada, 1)} ms, Firefox after ${await receivesOthers(fox, 1)} ms`,
    );
    await fox.page.close();
  });
});
