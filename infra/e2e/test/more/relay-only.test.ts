import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { withSite } from '../../support/site.ts';
import { watchStalls } from '../../support/stalls.ts';
import { until } from '../../support/until.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

/** ICE detects the dead path after about seven seconds and then needs less than a second for another one. */
const SILENT_MS = 8000;
const MOVED_WITHIN_MS = 30_000;

describe('two participants that hide their addresses', { timeout: 120_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  const call = async (): Promise<[Visitor, Visitor]> => {
    const room = newRoom();
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room, relayOnly: true });
    const bo = await Visitor.join(site.browser, { name: 'Bo', web: site.web, room, relayOnly: true });
    await Promise.all([ada.receivesMedia(1), bo.receivesMedia(1)]);
    return [ada, bo];
  };

  it('[TURN-1] connect through the TURN node: all candidates in use are relayed', async () => {
    const people = await call();
    await Promise.all(people.map((person) => person.usesPath(/^relay\/\w+-relay$/)));
  });

  it('the TURN node is killed and replaced: media is back within 8 s, on the same connection', async (t) => {
    const people = await call();
    await Promise.all(people.map((person) => person.watch()));
    const before = await Promise.all(people.map(pairsOf));
    const stalled = watchStalls();
    site.stack.kill('coturn', 'SIGKILL');
    await site.stack.restart('coturn');
    let now: (readonly string[])[] = [];
    await until(
      async () => {
        now = await Promise.all(people.map(pairsOf));
        return now.every((pairs, at) => pairs.length > 0 && !pairs.some((one) => before[at]?.includes(one)));
      },
      { withinMs: MOVED_WITHIN_MS, what: () => `other pairs than ${before.join()}: now ${now.join()}` },
    );
    await Promise.all(people.map((person) => person.receivesMedia(1)));
    const stalledMs = stalled();
    const watched = await Promise.all(people.map((person) => person.watched()));
    const gaps = watched.flatMap(({ interruptions }) =>
      interruptions.flatMap(({ stillMs, silentMs }) => [stillMs, silentMs]),
    );
    t.diagnostic(`the longest without a picture or a sound: ${Math.max(...gaps)} ms`);
    assert.ok(
      Math.max(...gaps) < SILENT_MS + stalledMs,
      `${gaps.join()}; the machine stalled for ${stalledMs} ms`,
    );
    assert.deepEqual(
      watched.map(({ connectionsMade }) => connectionsMade),
      [0, 0],
    );
  });
});

async function pairsOf(person: Visitor): Promise<readonly string[]> {
  return (await person.received()).pairs;
}
