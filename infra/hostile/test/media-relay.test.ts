/** A hostile media relay and two real browsers: what it reads and forges in a call without a key, and that it does neither where the link has one. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newProfile, type Sizes } from '@parley/e2e/support/browsers.ts';
import { connectsBy } from '@parley/e2e/support/paths.ts';
import { participantOf, progressOf, receivesOthers } from '@parley/e2e/support/presence.ts';
import { withSite } from '@parley/e2e/support/site.ts';
import { speakWithoutPause, SYLLABLE_MS } from '@parley/e2e/support/speech.ts';
import { until } from '@parley/e2e/support/until.ts';
import { newRoom, Visitor } from '@parley/e2e/support/visitor.ts';
import { listen } from '@parley/e2e/support/voices.ts';
import { HostileRelay, type Recording } from '../src/media-relay.ts';

const SIZES: Sizes = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };
const KEY = '#key=AAECAwQFBgcICQoLDA0ODw';
/** Longer than the two times below. */
const RECORDED_MS = 6000;
/** From the announcement of a forgery until the page has gone over to it, and waited in vain for the keys of its frames. */
const TAKEN_MS = 2000;
const WATCHED_MS = 2500;
const WITHIN_MS = 20_000;
/** Frames and milliseconds of what is forged successfully, at least. */
const SHOWN = { frames: 5, audibleMs: 200 };
const NOTHING = { frames: 0, audibleMs: 0 };

/** A call of Ada and Ben, and the relay between them. */
interface Call {
  readonly ada: Visitor;
  readonly ben: Visitor;
  readonly relay: HostileRelay;
}

describe('a hostile media relay', { timeout: 240_000 }, () => {
  const site = withSite({ PARLEY_LIMIT_MESH_PARTICIPANTS: '1' });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[MEDIA-16] reads and forges what is not encrypted; of an encrypted call it reads nothing, and nothing that it forges, repeats or mixes up is seen or heard', async (t) => {
    // The library reports each subscription, and each that ends.
    for (const level of ['debug', 'warn'] as const) t.mock.method(console, level, () => undefined);
    const plain = await call('');
    t.after(() => plain.relay.close());
    const read = await record(plain, plain.ada);
    assert.ok(holdsPictures(read), 'the relay reads the pictures of a call without a key');
    const shown = await forged(plain, read);
    assert.ok(shown.frames >= SHOWN.frames && shown.audibleMs >= SHOWN.audibleMs, JSON.stringify(shown));

    const encrypted = await call(KEY);
    t.after(() => encrypted.relay.close());
    const [ofAda, ofBen] = [await record(encrypted, encrypted.ada), await record(encrypted, encrypted.ben)];
    assert.ok(!holdsPictures(ofAda) && !holdsPictures(ofBen));
    const decoded = await forged(plain, { ...ofAda, catalog: read.catalog });
    assert.equal(decoded.frames, 0, 'what it recorded decodes as no picture');
    for (const one of [plain.ada, plain.ben]) await one.leave();

    const attacks: Record<string, Recording> = {
      'what she said before, as of another page of hers': ofAda,
      'what another participant says, as if she said it': ofBen,
      'pictures and sounds of its own, as if they were encrypted': { ...read, catalog: ofAda.catalog },
      'pictures and sounds of its own, not encrypted': read,
    };
    for (const [what, recording] of Object.entries(attacks)) {
      const seen = await forged(encrypted, recording);
      t.diagnostic(`${what}: ${JSON.stringify(seen)}`);
      assert.deepEqual({ frames: seen.frames, audibleMs: seen.audibleMs }, NOTHING, what);
      // Without it the call goes on.
      await receivesOthers(encrypted.ben, 1);
    }
    const { ada, ben, relay } = encrypted;
    const [id, page] = [await participantOf(ada), await relay.pageOf(await participantOf(ada))];
    await crash(ada);
    const again = relay.serve(id, page, ofAda);
    assert.deepEqual(await progressWhile(ben, id), NOTHING, 'what she said before, on the page that has gone');
    assert.ok(again.sent() > 0);
  });

  async function call(key: string): Promise<Call> {
    const room = newRoom();
    const people: Visitor[] = [];
    for (const name of ['Ada', 'Ben']) {
      const profile = await newProfile(site.browser, site.web, undefined, SIZES);
      await profile.addInitScript(speakWithoutPause, SYLLABLE_MS);
      const visitor = new Visitor(name, await profile.newPage());
      await visitor.enter(`${site.web}/r/${room}${key}`);
      people.push(visitor);
    }
    const [ada, ben] = people;
    assert.ok(ada && ben);
    for (const one of people) {
      await connectsBy(one, 'sfu', 1);
      await listen(one.page);
      await receivesOthers(one, 1);
    }
    return { ada, ben, relay: await HostileRelay.of(site.stack, site.dir, room) };
  }
});

const record = async ({ relay }: Call, of: Visitor): Promise<Recording> =>
  relay.record(await participantOf(of), RECORDED_MS);

/** What Ben sees and hears of Ada while the relay serves this as the newest page of hers, and how many frames he got of it. */
async function forged(
  { ada, ben, relay }: Call,
  recording: Recording,
): Promise<{ readonly frames: number; readonly audibleMs: number; readonly sent: number }> {
  const id = await participantOf(ada);
  const forgery = relay.serve(id, nextPage(), recording);
  try {
    return { ...(await progressWhile(ben, id)), sent: forgery.sent() };
  } finally {
    forgery.end();
  }
}

let pages = 0;
/** Each is greater than those of a real page, and than the one before. */
function nextPage(): string {
  pages += 1;
  return `zzzzzzzz${String(pages).padStart(2, '0')}`;
}

async function progressWhile({ page }: Visitor, of: string): Promise<typeof NOTHING> {
  await pause(TAKEN_MS);
  const before = await progressOf(page);
  await pause(WATCHED_MS);
  const after = await progressOf(page);
  const gained = (what: keyof typeof NOTHING): number => (after[what].get(of) ?? 0) - (before[what].get(of) ?? 0);
  return { frames: gained('frames'), audibleMs: gained('audibleMs') };
}

/** Whether some first frame of a group begins as key frames of VP8 do (RFC 6386, 9.1). */
function holdsPictures({ tracks }: Recording): boolean {
  const start = Buffer.from([0x9d, 0x01, 0x2a]);
  return [...tracks.values()].flat().some(({ index, frame }) => {
    const at = Buffer.from(frame.payload).indexOf(start);
    // After the frame's time, of up to eight bytes, and a tag of three.
    return index === 0 && at !== -1 && at <= 11;
  });
}

/** As a tab that runs out of memory ends: it says no goodbye. */
async function crash({ page }: Visitor): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  let isOver = false;
  page.once('crash', () => (isOver = true));
  void devtools.send('Page.crash').catch(() => undefined);
  await until(() => isOver, { withinMs: WITHIN_MS, what: () => 'the tab to crash' });
}
