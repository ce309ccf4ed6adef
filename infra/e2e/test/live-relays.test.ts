/** What people who publish and watch notice while media relays come and go and change their certificates: real browsers, edge and relays. */
import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { askTheWay, end, longestGap, relayInUse, relaysAreReady } from '../support/live-relays.ts';
import { LiveWatcher, profileFor, publish, watch, type LiveOptions } from '../support/live.ts';
import { watchMachine } from '../support/machine.ts';
import { withSite, type TestSite } from '../support/site.ts';
import { until } from '../support/until.ts';

/**
 * Pictures come every 100 ms. The edge notices up to two seconds later where sockets may no longer be led, so that two moves may follow each
 * other, the second of which takes its own time.
 */
const NO_GAP_MS = { WebTransport: 500, WebSocket: 2500 } as const;
const BACK_MS = 3000;
/** A publisher sends a ping every other second, and waits as long for the answer. */
const BACK_WITHOUT_A_WORD_MS = 7000;
const USUAL_MS = 3000;

describe('a live broadcast while relays end', { timeout: 240_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  for (const transport of ['WebTransport', 'WebSocket'] as const) {
    it(`[MEDIA-11] goes on over ${transport} without a gap when a relay drains`, async (t) => {
      const watcher = await onAir(site, { name: `drained-${transport}`, transport });
      const relay = await relayInUse(site.stack);
      t.after(() => site.stack.restart(relay));
      await keepsGapBelow(t, watcher, NO_GAP_MS[transport], () => end(site.stack, relay, 'SIGTERM'));
      assert.equal(await watcher.transport(), transport);
      await watcher.figureIs('reconnects', 0, 0);
    });

    it(`[MEDIA-10] is back soon over ${transport} when a relay is killed`, async (t) => {
      const watcher = await onAir(site, { name: `killed-${transport}`, transport });
      const relay = await relayInUse(site.stack);
      t.after(() => site.stack.restart(relay));
      await keepsGapBelow(t, watcher, BACK_MS, () => end(site.stack, relay, 'SIGKILL'));
      assert.equal(await watcher.transport(), transport);
    });

    it(`[MEDIA-10] is back over ${transport} when a relay stops answering without closing its sessions`, async (t) => {
      const watcher = await onAir(site, { name: `silent-${transport}`, transport });
      const relay = await relayInUse(site.stack);
      t.after(() => site.stack.kill(relay, 'SIGCONT'));
      await keepsGapBelow(t, watcher, BACK_WITHOUT_A_WORD_MS, async () => {
        site.stack.kill(relay, 'SIGSTOP');
        await pause(BACK_WITHOUT_A_WORD_MS);
      });
      assert.equal(await watcher.transport(), transport);
    });
  }

  it('[MEDIA-10] is back soon where only those who watch were on the relay that is killed', async (t) => {
    const name = 'apart';
    const home = (await askTheWay(site.stack, name)).relay.url;
    const profile = await profileFor(site.browser, { web: site.web, name });
    // It publishes on a relay without other sessions.
    await profile.route('**/v1/live/*', (route) =>
      route.continue({ postData: JSON.stringify({ publish: true, exclude: home }) }),
    );
    await publish(site.browser, { web: site.web, name, profile });
    const watcher = await watch(site.browser, { web: site.web, name });
    await watcher.seesMotion();
    const relay = `relay-${site.stack.endpoints.media.indexOf(home) + 1}`;
    t.after(() => site.stack.restart(relay));
    await keepsGapBelow(t, watcher, BACK_MS, () => end(site.stack, relay, 'SIGKILL'));
  });

  it('is seen again by a viewer that reloads the page', async () => {
    const watcher = await onAir(site, { name: 'again', transport: 'WebTransport' });
    await watcher.page.reload();
    await watcher.seesMotion();
  });
});

describe('a live broadcast while certificates change', { timeout: 240_000 }, () => {
  const rotationMs = 10_000;
  const site = withSite({
    PARLEY_RELAY_LIMIT_MEDIA_CERTIFICATE_ROTATION: String(rotationMs),
    PARLEY_RELAY_LIMIT_MEDIA_CERTIFICATE_LIFETIME: '3700000',
  });

  it('[MED-21] plays on in open pages, and takes who comes with the hashes from before and from after', async () => {
    const options = { web: site.web, name: 'rotation' };
    const watcher = await onAir(site, { name: options.name, transport: 'WebTransport' });
    const hashes = async () => (await askTheWay(site.stack, options.name)).relay.certificateHashes;

    const rotated = Promise.withResolvers<void>();
    const profile = await profileFor(site.browser, options);
    await profile.route('**/v1/live/*', async (route) => {
      const response = await route.fetch();
      await rotated.promise;
      await route.fulfill({ response });
    });
    const [first, second] = await hashes();
    const asked = (await profile.newPage())
      .goto(`${site.web}/live/${options.name}`)
      .then(() => profile.pages()[0]);

    const gap = await longestGap(watcher, () =>
      until(async () => (await hashes())[0] !== first, {
        withinMs: 3 * rotationMs,
        what: () => 'a rotation',
      }),
    );
    assert.equal((await hashes())[0], second, 'the next one has become the current one');
    rotated.resolve();
    const page = await asked;
    assert.ok(page);
    const early = new LiveWatcher(page);
    const late = await watch(site.browser, options);
    for (const one of [early, late]) {
      await one.seesMotion();
      assert.equal(await one.transport(), 'WebTransport');
    }
    // Three pages and a decoder each, on however few processors.
    assert.ok(gap <= BACK_MS, `${gap} ms`);
    await watcher.figureIs('reconnects', 0, 0);
  });
});

async function onAir(
  { browser, stack, web }: TestSite,
  { name, transport }: { readonly name: string; readonly transport: 'WebTransport' | 'WebSocket' },
): Promise<LiveWatcher> {
  const options: LiveOptions = { web, name, withoutWebTransport: transport === 'WebSocket' };
  await relaysAreReady(stack);
  const publisher = await publish(browser, options);
  const watcher = await watch(browser, options);
  await watcher.seesMotion();
  assert.equal(await publisher.transport(), transport);
  assert.equal(await watcher.transport(), transport);
  return watcher;
}

/** Above what is not the relay's: the gaps that are usual on a machine with too much to do, and what it stood still itself meanwhile. */
async function keepsGapBelow(
  t: TestContext,
  watcher: LiveWatcher,
  mostMs: number,
  happens: () => Promise<void>,
): Promise<void> {
  const usual = await longestGap(watcher, () => pause(USUAL_MS));
  const stoodStill = watchMachine();
  const gap = await longestGap(watcher, happens);
  const still = stoodStill();
  const [longest, usually, stood] = [gap, usual, still].map(Math.round);
  t.diagnostic(
    `the longest gap: ${longest} ms, without an end ${usually} ms; the machine stood still ${stood} ms`,
  );
  assert.ok(gap <= mostMs + Math.max(usual, still), `${longest} ms`);
}
