/** A hostile media relay and calls of real browsers: what it reads and forges where the link has no key, and that it does neither where it has one. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, mock } from 'node:test';
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
import { encodedBy, keepFrameKeys, noteEncoded, opensWithKeysOf } from '../src/page-secrets.ts';

const SIZES: Sizes = { camera: { width: 160, height: 90 }, page: { width: 480, height: 360 } };
const KEY = '#key=AAECAwQFBgcICQoLDA0ODw';
/** Of a participant whose tab crashed, whose place a relay would take: longer than all attacks. */
const AWAY_MS = '120000';
/** Longer than the two times below. */
const RECORDED_MS = 6000;
/** From the announcement of a forgery until the page has gone over to it, and has waited in vain for the keys of its frames. */
const TAKEN_MS = 2000;
const WATCHED_MS = 2500;
/** After one has left until the others send under other keys, and the newest group of each track has begun under them, as a subscription begins with that. */
const REPLACED_MS = 6000;
const WITHIN_MS = 20_000;
/** What comes of one who is believed, at least. */
const BELIEVED = { frames: 5, audibleMs: 200 };
const NOTHING = { frames: 0, audibleMs: 0 };

/** A call of Ada and Ben, and the relay between them. */
interface Call {
  readonly ada: Visitor;
  readonly ben: Visitor;
  /** Of Ada. */
  readonly id: string;
  readonly room: string;
  readonly relay: HostileRelay;
}

describe('a hostile media relay', { timeout: 240_000 }, () => {
  const site = withSite({
    PARLEY_LIMIT_MESH_PARTICIPANTS: '1',
    PARLEY_LIMIT_RESUME_GRACE: AWAY_MS,
    PARLEY_LIMIT_RESUME_UNLOAD_GRACE: AWAY_MS,
  });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));
  let ofPlain: Recording;
  // The library reports each subscription, and each that ends.
  before(() => (['debug', 'warn'] as const).forEach((level) => mock.method(console, level, () => undefined)));
  after(() => mock.restoreAll());

  it('[MEDIA-16] reads the pictures and sounds of a call without a key, and is believed when it goes on as a participant who has gone', async (t) => {
    const call = await enter('');
    t.after(() => call.relay.close());
    ofPlain = await record(call, call.ada);
    assert.ok(contains(ofPlain, await encodedBy(call.ada.page)));
    await crash(call);
    const seen = await forged(call, nextPage(), ofPlain);
    const isBelieved = seen.frames >= BELIEVED.frames && seen.audibleMs >= BELIEVED.audibleMs;
    assert.ok(isBelieved && seen.sent > 0, JSON.stringify(seen));
  });

  it('[MEDIA-16] reads nothing of an encrypted call, and nothing that it makes up, repeats or mixes up is seen or heard', async (t) => {
    const call = await enter(KEY);
    t.after(() => call.relay.close());
    const [ofAda, ofBen] = [await record(call, call.ada), await record(call, call.ben)];
    assert.ok(!contains(ofAda, await encodedBy(call.ada.page)));
    const page = await call.relay.pageOf(call.id);

    // After an attack on one who is there, the call goes on.
    await forged(call, nextPage(), ofAda);
    await connectsBy(call.ben, 'sfu', 1);
    await receivesOthers(call.ben, 1);

    await crash(call);
    const attacks: Record<string, [page: string, recording: Recording]> = {
      'what she said before, on the page that has gone': [page, ofAda],
      'what she said before, as of another page of hers': [nextPage(), ofAda],
      'what another participant says, as if she said it': [nextPage(), ofBen],
      'what others say elsewhere, as if it were encrypted': [
        nextPage(),
        { ...ofPlain, catalog: ofAda.catalog },
      ],
      'what was encrypted, as if it were not': [nextPage(), { ...ofAda, catalog: ofPlain.catalog }],
      'what others say elsewhere, not encrypted': [nextPage(), ofPlain],
    };
    for (const [what, [as, recording]] of Object.entries(attacks)) {
      const { sent, ...seen } = await forged(call, as, recording);
      t.diagnostic(`${what}: ${sent} frames sent, ${JSON.stringify(seen)}`);
      assert.deepEqual(seen, NOTHING, what);
      // Of a broadcast whose catalog names no key, or another one, a page asks for nothing.
      const asksFor = recording.catalog === ofAda.catalog || recording.catalog === ofBen.catalog;
      assert.equal(sent > 0, asksFor, `${what}: ${sent} frames`);
    }
    assert.deepEqual([call.ben.errors, call.ben.lines], [[], []]);
  });

  it('[MEDIA-28] helps no one who has left: under the keys that the page of a participant has had, nothing opens that was sent after it', async (t) => {
    const call = await enter(KEY);
    t.after(() => call.relay.close());
    const cem = await join(call.room, 'Cem', KEY);
    await connectsBy(cem, 'sfu', 2);
    await listen(cem.page);
    await receivesOthers(cem, 2);
    const before = await record(call, call.ada);
    await cem.page.getByTestId('control-leave').click();
    await cem.page.getByTestId('ended-left').waitFor();
    await pause(REPLACED_MS);
    const after = await record(call, call.ada);
    const opens = (recording: Recording): Promise<number> =>
      opensWithKeysOf(cem.page, [...recording.tracks.values()].flat());
    assert.ok((await opens(before)) > 0, 'what was sent while it was there opens');
    assert.equal(await opens(after), 0);
  });

  async function join(room: string, name: string, key: string): Promise<Visitor> {
    const profile = await newProfile(site.browser, site.web, undefined, SIZES);
    await profile.addInitScript(speakWithoutPause, SYLLABLE_MS);
    await profile.addInitScript(noteEncoded);
    await profile.addInitScript(keepFrameKeys);
    const visitor = new Visitor(name, await profile.newPage());
    await visitor.enter(`${site.web}/r/${room}${key}`);
    return visitor;
  }

  async function enter(key: string): Promise<Call> {
    const room = newRoom();
    const [ada, ben] = [await join(room, 'Ada', key), await join(room, 'Ben', key)];
    for (const one of [ada, ben]) {
      await connectsBy(one, 'sfu', 1);
      await listen(one.page);
      await receivesOthers(one, 1);
    }
    const relay = await HostileRelay.of(site.stack, site.dir, room);
    return { ada, ben, id: await participantOf(ada), room, relay };
  }
});

/** Pictures and sound of a participant. */
async function record({ relay }: Call, of: Visitor): Promise<Recording> {
  const recording = await relay.record(await participantOf(of), RECORDED_MS);
  for (const track of ['camera/low', 'microphone'])
    assert.ok((recording.tracks.get(track)?.length ?? 0) > 0, `${track} of ${of.name}`);
  return recording;
}

/** What Ben sees and hears of Ada while the relay serves this as that page of hers, and how many frames it sent. */
async function forged(
  { id, ben, relay }: Call,
  page: string,
  recording: Recording,
): Promise<typeof NOTHING & { readonly sent: number }> {
  const forgery = relay.serve(id, page, recording);
  try {
    await pause(TAKEN_MS);
    const before = await progressOf(ben.page);
    await pause(WATCHED_MS);
    const after = await progressOf(ben.page);
    const gained = (what: keyof typeof NOTHING): number =>
      Math.max(0, (after[what].get(id) ?? 0) - (before[what].get(id) ?? 0));
    return { frames: gained('frames'), audibleMs: gained('audibleMs'), sent: forgery.sent() };
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

/** Whether a frame holds what an encoder gave. */
function contains({ tracks }: Recording, encoded: readonly Buffer[]): boolean {
  assert.ok(encoded.length > 0);
  const payloads = [...tracks.values()].flat().map(({ frame }) => Buffer.from(frame.payload));
  return encoded.some((chunk) => payloads.some((payload) => payload.includes(chunk)));
}

/** Ada's tab ends as one does that runs out of memory: it says no goodbye, so that she keeps her place for a while. */
async function crash({ ada: { page }, id, relay }: Call): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  let isOver = false;
  page.once('crash', () => (isOver = true));
  void devtools.send('Page.crash').catch(() => undefined);
  await until(() => isOver, { withinMs: WITHIN_MS, what: () => 'the tab to crash' });
  await relay.publishesNothing(id);
}
