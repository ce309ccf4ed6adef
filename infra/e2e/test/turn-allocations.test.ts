/** What a call takes of the TURN node's ports although its people meet directly: a network's quota is computed from it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { countAllocations } from '@parley/turn/agent/allocations';
import { withSite } from '../support/site.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

const PEOPLE = 4;
/** Ends of connections: each person has one with each of the others. */
const ENDS = PEOPLE * (PEOPLE - 1);
const TRANSPORTS = 2;
const SAMPLE_MS = 100;
const FIRST_RELAY_PORT = 10_000;

describe('the TURN allocations of a call', { timeout: 120_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[TURN-13] four people take at most two for each end of a connection, also while they join', async (t) => {
    const now = () => allocationsAt(site.stack.endpoints.turn.urls[0] ?? '');
    let most = 0;
    const sampling = setInterval(() => (most = Math.max(most, now())), SAMPLE_MS);
    t.after(() => clearInterval(sampling));
    const room = newRoom();
    const people = [];
    for (let number = 0; number < PEOPLE; number += 1)
      people.push(await Visitor.join(site.browser, { name: `P${number}`, web: site.web, room }));
    await Promise.all(people.map((person) => person.seesAndHears(PEOPLE - 1)));
    t.diagnostic(`${most} at most, ${now()} in the end, of ${ENDS} ends of connections`);
    assert.ok(most >= ENDS, `${most} allocations: they are not counted`);
    assert.ok(most <= ENDS * TRANSPORTS, `${most} allocations`);
  });
});

/** The node has an address to itself: of its sockets, those above its own ports are allocations. */
function allocationsAt(url: string): number {
  const [, ip = ''] = /^turn:([\d.]+):/.exec(url) ?? [];
  const bytes = ip.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  const address = ` ${bytes.toReversed().join('').toUpperCase()}:`;
  const lines = readFileSync('/proc/net/udp', 'utf8').split('\n');
  return countAllocations(FIRST_RELAY_PORT, 65_535, [
    lines.filter((line) => line.includes(address)).join('\n'),
  ]);
}
