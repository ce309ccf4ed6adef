import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newRoom } from '@parley/e2e/support/visitor.ts';
import type { IceServer } from '@parley/protocol/http';
import { TurnClient, type Login, type Outcome } from '../../../../services/turn/test/turn-client.ts';
import { allReady, rollOut } from '../../src/faults.ts';
import { nodes } from '../../src/lab.ts';
import { installRelease, podsOf } from '../../src/release.ts';
import { entries, lab } from './entry.ts';
import { Participant } from './participant.ts';

/** As infra/cluster/values.yaml has it: how long a node waits for its allocations. */
const drainMs = 30_000;
/** A client that got a node just before its withdrawal connects within this time. */
const laterMs = 1500;
const askEveryMs = 500;
const port = 3478;

/** The outcome of a client that got a node and used it a little later. */
interface Visit {
  readonly node: string;
  readonly offeredAt: number;
  readonly outcome: Outcome | 'silent';
}

describe('TURN servers are rolled', { timeout: 900_000 }, () => {
  before(async () => {
    await installRelease(lab);
    await allReady(lab);
  });

  it('[TURN-5] [TURN-8] a node that ends is not offered, its clients stay, and no client of it is refused', async (t) => {
    const guests = await onEveryPod(t);
    const before = await podsOf(lab, 'turn');
    const addresses = before.map(({ status }) => status.podIP).toSorted();
    const stays = await Promise.all(addresses.map((address) => stay(address, guests)));
    const visits: Promise<Visit>[] = [];
    const over = new AbortController();
    const watching = guests.map((guest) => visitWhatIsOffered(guest, visits, over.signal));

    await rollOut(lab, 'turn');
    await pause(laterMs);
    over.abort();
    await Promise.all(watching);

    const after = new Set((await podsOf(lab, 'turn')).map(({ metadata }) => metadata.name));
    assert.ok(
      before.every(({ metadata }) => !after.has(metadata.name)),
      'all are new',
    );
    const made = await Promise.all(visits);
    assert.deepEqual(
      made.filter(({ outcome }) => outcome !== 'ok'),
      [],
    );
    for (const { address, endedAt } of stays) {
      const ended = await endedAt;
      const lastOfferedAt = Math.max(
        ...made
          .filter(({ node, offeredAt }) => node === address && offeredAt < ended)
          .map(({ offeredAt }) => offeredAt),
      );
      t.diagnostic(
        `${address} was offered until ${Math.round(ended - lastOfferedAt)} ms before it ended, of ${made.length} visits`,
      );
      assert.ok(ended - lastOfferedAt > drainMs - 5000, `${address}: ${ended - lastOfferedAt} ms`);
    }
  });
});

/** A participant on each signaling pod. */
async function onEveryPod(t: TestContext): Promise<Participant[]> {
  const pods = (await podsOf(lab, 'signaling')).map(({ metadata }) => metadata.name);
  const [entry] = await entries();
  assert.ok(entry);
  const found = new Map<string, Participant>();
  while (found.size < pods.length) {
    const guest = await Participant.join(entry, newRoom(), 'Ada');
    t.after(() => guest.leave());
    found.set(guest.pod, guest);
  }
  return [...found.values()];
}

/**
 * Allocates at a node and stays. `endedAt` is the time of the node's last answer for the allocation: a later
 * request may be answered by the node's successor, at the same address, once that is offered.
 */
async function stay(address: string, [guest]: readonly Participant[]) {
  assert.ok(guest);
  const client = await TurnClient.open({ ip: address, port }, login(await guest.freshIceServers()));
  assert.equal((await client.allocate()).outcome, 'ok', address);
  const other = nodes.find((node) => node.address !== address)?.address ?? '';
  const watch = async (): Promise<number> => {
    let endedAt = performance.now();
    while ((await client.permit(other).catch(() => 'silent')) === 'ok') {
      endedAt = performance.now();
      await pause(askEveryMs);
    }
    await client.close().catch(() => undefined);
    return endedAt;
  };
  return { address, endedAt: watch() };
}

async function visitWhatIsOffered(
  guest: Participant,
  visits: Promise<Visit>[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const servers = await guest.freshIceServers();
    const offeredAt = performance.now();
    const urls = servers.flatMap((server) => server.urls);
    const found = urls.map((url) => /^turn:([\d.]+):\d+\?transport=udp$/.exec(url)?.[1]);
    for (const node of found) if (node !== undefined) visits.push(visit(node, login(servers), offeredAt));
    await pause(askEveryMs);
  }
}

/** The port belonged to an earlier allocation: a client that gets this error uses another port (RFC 8656, section 6.4). */
const allocationMismatch = 437;

async function visit(node: string, login: Login, offeredAt: number): Promise<Visit> {
  await pause(laterMs);
  const first = await knock(node, login);
  return { node, offeredAt, outcome: first === allocationMismatch ? await knock(node, login) : first };
}

async function knock(node: string, login: Login): Promise<Visit['outcome']> {
  const client = await TurnClient.open({ ip: node, port }, login);
  const outcome = await client.allocate().then(
    (answer) => answer.outcome,
    () => 'silent' as const,
  );
  // One that gave no answer gives none to the farewell either.
  await client.close().catch(() => undefined);
  return outcome;
}

function login(servers: readonly IceServer[]): Login {
  const server = servers.find(({ username }) => username !== undefined);
  assert.ok(server?.username !== undefined && server.credential !== undefined, 'no TURN server is offered');
  return { username: server.username, password: server.credential };
}
