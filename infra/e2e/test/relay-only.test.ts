import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { withSite } from '../support/site.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

/** ICE itself needs some seven seconds to notice, and as many for a new way. */
const SILENT_WITHIN_MS = 6000;

describe('two people who hide their addresses', { timeout: 120_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  const call = async (): Promise<[Visitor, Visitor]> => {
    const room = newRoom();
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room, relayOnly: true });
    const bo = await Visitor.join(site.browser, { name: 'Bo', web: site.web, room, relayOnly: true });
    await Promise.all([ada.seesAndHears(1), bo.seesAndHears(1)]);
    return [ada, bo];
  };

  it('[TURN-1] meet at the TURN node: both paths are relayed on both sides', async () => {
    const people = await call();
    await Promise.all(people.map((person) => person.usesPath(/^relay\/\w+-relay$/)));
  });

  it('the TURN node dies and another takes its place: they see and hear each other again within seconds, on the same connection', async (t) => {
    const people = await call();
    await Promise.all(people.map((person) => person.watch()));
    site.stack.kill('coturn', 'SIGKILL');
    await site.stack.restart('coturn');
    await until(async () => (await Promise.all(people.map(isBroken))).some(Boolean), {
      withinMs: 2 * SILENT_WITHIN_MS,
      what: () => 'their pictures to stop',
    });
    await Promise.all(people.map((person) => person.seesAndHears(1)));
    const watched = await Promise.all(people.map((person) => person.watched()));
    const longest = watched.flatMap(({ interruptions }) =>
      interruptions.map(({ stillMs, silentMs }) => Math.max(stillMs, silentMs)),
    );
    t.diagnostic(JSON.stringify(watched));
    assert.ok(Math.max(...longest) < SILENT_WITHIN_MS, longest.join());
    assert.deepEqual(
      watched.map(({ connectionsMade }) => connectionsMade),
      [0, 0],
    );
  });
});

async function isBroken(person: Visitor): Promise<boolean> {
  const { interruptions } = await person.watched();
  return interruptions.some(({ silentMs }) => silentMs > 1000);
}
