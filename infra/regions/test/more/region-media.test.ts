/** What a call through relays notices, in browsers, when the region of some of its participants is lost. */
import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { connectsBy } from '@parley/e2e/support/paths.ts';
import { receivesOthers } from '@parley/e2e/support/presence.ts';
import { MAX_STALL_MS, watchStalls } from '@parley/e2e/support/stalls.ts';
import { newRoom, type Visitor } from '@parley/e2e/support/visitor.ts';
import { listen } from '@parley/e2e/support/voices.ts';
import type { Terminal } from '@parley/local/terminal';
import { defaultLimits } from '@parley/protocol/limits';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { callers, terminalReceives, type Callers } from '../support/call.ts';
import { lab, linked } from '../support/lab.ts';
import { ends, isBack, killRelays, restore, type End } from '../support/loss.ts';
import type { Regions } from '../../src/regions.ts';

/** `ROUNDS=20` for figures. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 1);
const MOVED_WITHIN_MS = 10_000;
/** On the standby relay: MEDIA-25. */
const PICTURES_WITHIN_MS = 3000;
/** Until the leases of its relays have ended, a pod sends participants to them, and an attempt that began before takes its time. */
const WITHOUT_RELAYS_MS = defaultLimits()['media.leaseDuration'] + 2 * PICTURES_WITHIN_MS;
/** In the call: two in browsers, of the region that is lost, and one at a terminal elsewhere. */
const OTHERS = 2;
const CONNECTED = '[data-testid=call][data-status=connected]';
/** The edge checks its pods again when these are back. */
const OPEN_WITHIN_MS = 20_000;

interface Outcome {
  /** How long after the loss each participant of the region was connected again, in another one; ms. */
  readonly moved: readonly number[];
  /** The longest time between two pictures of another participant, for each participant in a browser; ms. */
  readonly gaps: readonly number[];
}

interface Call {
  readonly lost: readonly Visitor[];
  readonly elsewhere: Terminal;
}

async function gather(call: Callers): Promise<Call> {
  const room = newRoom();
  const elsewhere = call.atTerminal('ap', room, 'Cem');
  const ada = await call.inBrowserOf('eu', room, 'Ada');
  // Behind a firewall that lets only TLS through.
  const ben = await call.inBrowserOf('eu', room, 'Ben', { relayOnly: true, webSocketOnly: true });
  const lost = [ada, ben];
  for (const one of lost) {
    assert.equal(await one.page.locator(`${CONNECTED}[data-pod^="eu_"]`).count(), 1, 'it is in eu');
    await connectsBy(one, 'sfu', OTHERS);
    await listen(one.page);
    await receivesOthers(one, OTHERS);
  }
  await terminalReceives(elsewhere, OTHERS);
  return { lost, elsewhere };
}

async function round(regions: Regions, call: Callers, end: End): Promise<Outcome> {
  const { lost, elsewhere } = await gather(call);
  const participants = await Promise.all(lost.map((one) => one.participant()));
  await Promise.all(lost.map((one) => one.watch()));
  const stalled = watchStalls();
  const endedAt = performance.now();
  const bringBack = end(regions);
  const moved = await Promise.all(
    lost.map(async ({ page }) => {
      const back = page.locator(`${CONNECTED}:not([data-pod^="eu_"])`);
      await back.waitFor({ timeout: MOVED_WITHIN_MS + MAX_STALL_MS });
      return Math.round(performance.now() - endedAt);
    }),
  );
  const stalledMs = stalled();
  assert.ok(Math.max(...moved) <= MOVED_WITHIN_MS + stalledMs, `moved after ${moved.join()} ms`);
  for (const one of lost) await receivesOthers(one, OTHERS);
  const watched = await Promise.all(lost.map((one) => one.watched()));
  const gaps = watched.map(longestGap);
  assert.ok(Math.max(...gaps) <= PICTURES_WITHIN_MS + stalledMs, `without pictures for ${gaps.join()} ms`);
  await terminalReceives(elsewhere, OTHERS, Date.now());
  assert.deepEqual(await Promise.all(lost.map((one) => one.participant())), participants);
  assert.ok(watched.every(({ tilesGone }) => tilesGone === 0));
  await call.end();
  await bringBack();
  await isBack(regions);
  await eventually('the edge of eu is open', () => isOpen(regions), OPEN_WITHIN_MS);
  return { moved, gaps };
}

/** For either pod: requests alternate. */
async function isOpen(regions: Regions): Promise<boolean> {
  const ask = (): Promise<Response> => fetch(`${regions.plainEdge('eu')}/v1/regions`);
  const answers = await Promise.all([ask(), ask(), ask(), ask()]).catch(() => []);
  return answers.length > 0 && answers.every(({ ok }) => ok);
}

/** Without the time in which the page itself stalled. */
const longestGap = ({ interruptions }: Awaited<ReturnType<Visitor['watched']>>): number =>
  Math.max(...interruptions.map(({ stillMs }) => stillMs));

function report(t: TestContext, how: string, outcomes: readonly Outcome[]): void {
  const summary = (of: keyof Outcome): string => {
    const sorted = outcomes.flatMap((outcome) => outcome[of]).toSorted((a, b) => a - b);
    return `${sorted[Math.trunc(sorted.length / 2)]} ms (p50), ${sorted.at(-1)} ms at most, of ${sorted.length}`;
  };
  t.diagnostic(
    `${how}: signaling back after ${summary('moved')}; longest without a picture ${summary('gaps')}`,
  );
}

describe('FAULT=region-media: a region is lost during a call', { timeout: ROUNDS * 240_000 }, () => {
  const regions = lab(
    { 'mesh.participants': 2, 'address.joins': 100_000, 'address.reads': 100_000 },
    {},
    true,
  );
  const call = callers(regions);
  afterEach(async () => {
    await call.end();
    await restore(regions());
  });

  for (const [how, end] of ends)
    it(`[REG-9] [MEDIA-25] ${how}: pictures are back within 3 s, signaling within 10 s, as the same participants`, async (t) => {
      await linked(regions());
      const outcomes: Outcome[] = [];
      for (let rounds = 0; rounds < ROUNDS; rounds += 1) {
        const outcome = await round(regions(), call, end);
        t.diagnostic(`moved ${outcome.moved.join()} ms, gaps ${outcome.gaps.join()} ms`);
        outcomes.push(outcome);
      }
      report(t, how, outcomes);
    });

  it('[MEDIA-24] all its relays are killed, and its pods live: a relay of another region carries the call', async (t) => {
    await linked(regions());
    const { lost, elsewhere } = await gather(call);
    await Promise.all(lost.map((one) => one.watch()));
    const stalled = watchStalls();
    killRelays(regions());
    for (const one of lost) await receivesOthers(one, OTHERS);
    const gaps = (await Promise.all(lost.map((one) => one.watched()))).map(longestGap);
    t.diagnostic(`longest without a picture ${gaps.join()} ms`);
    assert.ok(Math.max(...gaps) <= WITHOUT_RELAYS_MS + stalled(), `without pictures for ${gaps.join()} ms`);
    await terminalReceives(elsewhere, OTHERS, Date.now());
    for (const { page } of lost)
      assert.equal(await page.locator(`${CONNECTED}[data-pod^="eu_"]`).count(), 1, 'it is in eu still');
  });
});
