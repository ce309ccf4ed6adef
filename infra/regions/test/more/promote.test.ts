import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Terminal } from '@parley/local/terminal';
import type { BanList } from '@parley/protocol/http';
import { Client, join } from '../../../../services/signaling/test/support/client.ts';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { codeIn, Owner } from '../../../../services/signaling/test/support/owner.ts';
import type { RegionName } from '../../src/site.ts';
import { isKnownEverywhere } from '../support/crowd.ts';
import { lab, linked, LINKED_WITHIN_MS } from '../support/lab.ts';

/** A cut is detected by then, also by the pods that are asked whether they reach the region. */
const REFUSED_WITHIN_MS = 20_000;
const LEARNT_WITHIN_MS = 20_000;

const regions = lab({ 'address.joins': 100_000, 'address.moderation': 10_000 });

const asDevice = (letter: string): { readonly body: string } => ({
  body: JSON.stringify({ device: letter.repeat(16) }),
});

async function enter(region: RegionName, room: string, letter: string): Promise<Client> {
  const client = new Client(room);
  await client.enter(regions().pod(region, 1), letter, asDevice(letter));
  return client;
}

async function codeOfJoin(region: RegionName, room: string, letter: string): Promise<string | undefined> {
  const joined = await join(regions().pod(region, 2), room, asDevice(letter));
  return joined.ok ? undefined : joined.error.code;
}

/** Why a visitor does not enter. A join may be answered by what the pod read before the ban; an entry is not. */
async function codeOfEntry(region: RegionName, room: string, letter: string): Promise<string | undefined> {
  const refused = await codeOfJoin(region, room, letter);
  if (refused !== undefined) return refused;
  const client = new Client(room);
  await client.requestEntry(regions().pod(region, 2), letter, asDevice(letter));
  return (await client.refusedWith()).code;
}

/** Bans the participant at its pod. */
async function ban(owner: Owner, region: RegionName, client: Client): Promise<void> {
  const { participant } = client.welcome;
  const answer = await owner.to(regions().pod(region, 1), participant, 'ban', {});
  assert.equal(codeIn(answer), undefined);
  assert.equal(answer.status, 200);
  assert.equal((await client.refusedWith()).code, 'BANNED');
}

/** From inside the region, at the address of the pod, as it accepts no others. */
async function promote(region: RegionName, home: RegionName): Promise<{ ok: boolean; said: string }> {
  const args = ['region', 'promote', region, '--for', home, '--pod', regions().pod(region, 2)];
  const promotes = Terminal.start(args, regions().inside(region));
  const ok = (await promotes.ends()) === 0;
  return { ok, said: await promotes.line(ok ? 'stdout' : 'stderr') };
}

async function unfollowed(region: RegionName): Promise<number> {
  const texts = await Promise.all(
    ([1, 2] as const).map(async (pod) => (await fetch(`${regions().pod(region, pod)}/metrics`)).text()),
  );
  const values = texts.map((text) => Number(/^parley_home_unfollowed (.+)$/m.exec(text)?.[1]));
  return values.reduce((sum, value) => sum + value, 0);
}

test('[HOME-11] [HOME-12] [HOME-13] [HOME-15] FAULT=promote: another region answers for the rooms of one that is cut off, which takes them back, and bans of both count', async (t) => {
  await linked(regions());
  t.after(() => regions().heal());
  const owner = await Owner.of(regions().pod('eu', 1));
  const { room } = owner;
  await isKnownEverywhere(regions(), room);
  await ban(owner, 'us', await enter('us', room, 'm'));
  await eventually('all is followed', async () => (await unfollowed('eu')) === 0, LINKED_WITHIN_MS);
  assert.match((await promote('us', 'eu')).said, /HOME_REACHABLE/);

  // It is in the room on the side that is cut off, and is banned there.
  const trudy = await enter('eu', room, 't');
  regions().cut('eu');
  const promoted = await eventually(
    'no region reaches eu',
    async () => {
      const answer = await promote('us', 'eu');
      // On a busy machine a region may not answer in time whether it reaches eu.
      if (!answer.ok) assert.match(answer.said, /HOME_REACHABLE|REGION_SILENT/);
      return answer.ok ? answer : undefined;
    },
    REFUSED_WITHIN_MS,
  );
  assert.match(promoted.said, /term 1/);
  await ban(owner, 'eu', trudy);
  for (const region of ['us', 'ap'] as const) {
    await eventually(
      `a visitor enters in ${region}`,
      () =>
        enter(region, room, 'a').then(
          () => true,
          () => false,
        ),
      LEARNT_WITHIN_MS,
    );
    // Its other pod may learn of the promotion later.
    await eventually(
      `the banned visitor is refused in ${region}`,
      async () => (await codeOfEntry(region, room, 'm').catch(String)) === 'BANNED',
      LEARNT_WITHIN_MS,
    );
  }
  await ban(owner, 'ap', await enter('ap', room, 'e'));
  assert.equal(codeIn(await owner.change(regions().pod('ap', 1), { lobby: true })), undefined);

  const healedAt = performance.now();
  regions().heal();
  await linked(regions());
  await eventually(
    'eu has the bans of both',
    async () => {
      // It may have learned of the promotion before it reaches the region.
      const { status, body } = await owner.ask(regions().pod('eu', 1), 'GET', '/bans');
      return status === 200 && (body as BanList).bans.length === 3;
    },
    LEARNT_WITHIN_MS,
  );
  t.diagnostic(`the bans of both count ${Math.round(performance.now() - healedAt)} ms after the cut`);
  await areRefused(room);
  assert.equal(codeIn(await owner.change(regions().pod('eu', 2), { lobby: false })), undefined);
  await enter('eu', room, 'b');
  await assert.rejects(Owner.of(regions().pod('eu', 1)), /ROOM_HOME_UNREACHABLE/);
  await takesBack(t, owner);
});

async function areRefused(room: string): Promise<void> {
  for (const region of ['eu', 'us', 'ap'] as const)
    for (const letter of ['m', 't', 'e'])
      await eventually(
        `${letter} is refused in ${region}`,
        async () => (await codeOfEntry(region, room, letter).catch(String)) === 'BANNED',
        LEARNT_WITHIN_MS,
      );
}

/** eu answers for its rooms again: those from before, as us had them, and new ones. */
async function takesBack(t: TestContext, owner: Owner): Promise<void> {
  const askedAt = performance.now();
  const returned = await eventually(
    'eu has followed everything',
    async () => {
      const answer = await promote('eu', 'eu');
      if (!answer.ok) assert.match(answer.said, /NOT_FOLLOWED/);
      return answer.ok ? answer : undefined;
    },
    LEARNT_WITHIN_MS,
  );
  t.diagnostic(`eu has its rooms back after ${Math.round(performance.now() - askedAt)} ms`);
  assert.match(returned.said, /eu answers for the rooms of eu from now on \(term 2\)/);
  const fresh = await eventually(
    'both pods of eu have learned of it',
    () => Owner.of(regions().pod('eu', 1)).catch(() => undefined),
    LEARNT_WITHIN_MS,
  );
  await areRefused(owner.room);
  for (const region of ['eu', 'us', 'ap'] as const)
    for (const { room } of [owner, fresh])
      await eventually(
        `${room} is entered in ${region}`,
        () =>
          enter(region, room, 'n').then(
            () => true,
            () => false,
          ),
        LEARNT_WITHIN_MS,
      );
}
