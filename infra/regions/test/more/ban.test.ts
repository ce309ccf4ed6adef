import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import { Client, join, NO_MEDIA } from '../../../../services/signaling/test/support/client.ts';
import { Owner } from '../../../../services/signaling/test/support/owner.ts';
import type { RegionName } from '../../src/site.ts';
import { isKnownEverywhere } from '../support/crowd.ts';
import { lab, linked, LINKED_WITHIN_MS } from '../support/lab.ts';

/** SPEC rule MOD-2. */
const OUT_WITHIN_MS = 2000;
/** Between eu and ap, on the way there and back. */
const ROUND_TRIP_MS = 150;
const CUT_OFF_WITHIN_MS = 6000;

const regions = lab({ 'address.joins': 100_000, 'address.moderation': 10_000 });

const asDevice = (letter: string): { readonly body: string } => ({
  body: JSON.stringify({ device: letter.repeat(16) }),
});

async function enter(region: RegionName, room: string, letter: string): Promise<Client> {
  const client = new Client(room);
  await client.enter(regions().pod(region, 1), letter, asDevice(letter));
  return client;
}

/** How long after `since` it was turned away as banned. */
async function bannedAfter(client: Client, since: number, withinMs: number): Promise<number> {
  assert.equal((await client.refusedWith(withinMs)).code, 'BANNED');
  return Math.round(performance.now() - since);
}

test('[MOD-2] [HOME-2] [HOME-7] FAULT=ban: a ban counts in all regions at once, and beyond a cut when it ends', async (t) => {
  await linked(regions());
  t.after(() => regions().heal());
  const owner = await Owner.of(regions().pod('eu', 1));
  const { room } = owner;
  await isKnownEverywhere(regions(), room);
  const [mallory, trudy, ada] = await Promise.all([
    enter('ap', room, 'm'),
    enter('ap', room, 't'),
    enter('us', room, 'a'),
  ]);

  const stalled = watchStalls();
  const at = performance.now();
  assert.equal((await owner.to(regions().pod('us', 2), mallory.participant, 'ban', {})).status, 200);
  const outMs = await bannedAfter(mallory, at, OUT_WITHIN_MS + LINKED_WITHIN_MS);
  for (const region of ['eu', 'us', 'ap'] as const) {
    // A join may be answered by what the region read before; an entry is not.
    const again = await join(regions().pod(region, 2), room, asDevice('m'));
    assert.ok(again.ok || again.error.code === 'BANNED', region);
    if (!again.ok) continue;
    const client = new Client(room);
    await client.connect(regions().pod(region, 2));
    client.sendMessage({
      type: 'enter',
      ticket: again.answer.ticket,
      generation: 1,
      name: 'm',
      media: NO_MEDIA,
    });
    assert.equal((await client.refusedWith()).code, 'BANNED', region);
  }

  // She is in the room twice, once on either side of the cut, with the same device.
  const { participant } = await enter('eu', room, 't').then((client) => client.welcome);
  regions().cut('ap');
  await ada.waitFor('unreachable', { timeoutMs: CUT_OFF_WITHIN_MS });
  assert.equal((await owner.to(regions().pod('eu', 2), participant, 'ban', {})).status, 200);
  // The ticket is from what ap read before; it lets no client enter.
  const late = new Client(room);
  await late.requestEntry(regions().pod('ap', 1), 't', asDevice('t'));
  assert.equal((await late.refusedWith()).code, 'ROOM_HOME_UNREACHABLE');
  assert.ok(!trudy.log.some(({ type }) => type === 'error'), 'the ban is not known beyond the cut');

  const healedAt = performance.now();
  regions().heal();
  const [linkedMs, healedMs] = await Promise.all([
    linked(regions()).then(() => Math.round(performance.now() - healedAt)),
    bannedAfter(trudy, healedAt, OUT_WITHIN_MS + LINKED_WITHIN_MS),
  ]);
  t.diagnostic(
    `out after ${outMs} ms; gateways connected ${linkedMs} ms after a cut, out after ${healedMs} ms`,
  );
  assert.ok(outMs <= OUT_WITHIN_MS + stalled(), `out after ${outMs} ms`);
  const dueMs = linkedMs + OUT_WITHIN_MS + ROUND_TRIP_MS;
  assert.ok(healedMs <= dueMs + stalled(), `out ${healedMs} ms after the cut`);
});
