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
const ASK_EVERY_MS = 500;
const port = 3478;

/** The outcome of a client that was offered a node and used it a little later. */
interface Attempt {
  readonly node: string;
  readonly offeredAt: number;
  readonly outcome: Outcome | 'silent';
}

describe('a rollout of TURN servers', { timeout: 900_000 }, () => {
  before(async () => {
    await installRelease(lab);
    await allReady(lab);
  });

  it('[TURN-5] [TURN-8] a node that drains is not offered, keeps its allocations, and refuses no client that was offered it', async (t) => {
    const guests = await joinEveryPod(t);
    const before = await podsOf(lab, 'turn');
    const addresses = before.map(({ status }) => status.podIP).toSorted();
    const kept = await Promise.all(addresses.map((address) => keepAllocation(address, guests)));
    const attempts: Promise<Attempt>[] = [];
    const over = new AbortController();
    const watching = guests.map((guest) => useOfferedNodes(guest, attempts, over.signal));

    await rollOut(lab, 'turn');
    await pause(laterMs);
    over.abort();
    await Promise.all(watching);

    const after = new Set((await podsOf(lab, 'turn')).map(({ metadata }) => metadata.name));
    assert.ok(
      before.every(({ metadata }) => !after.has(metadata.name)),
      'all are new',
    );
    const made = await Promise.all(attempts);
    assert.deepEqual(
      made.filter(({ outcome }) => outcome !== 'ok'),
      [],
    );
    for (const { address, endedAt } of kept) {
      const ended = await endedAt;
      const lastOfferedAt = Math.max(
        ...made
          .filter(({ node, offeredAt }) => node === address && offeredAt < ended)
          .map(({ offeredAt }) => offeredAt),
      );
      t.diagnostic(
        `${address} was offered until ${Math.round(ended - lastOfferedAt)} ms before it ended, of ${made.length} attempts`,
      );
      assert.ok(ended - lastOfferedAt > drainMs - 5000, `${address}: ${ended - lastOfferedAt} ms`);
    }
  });
});

/** A participant on each signaling pod. */
async function joinEveryPod(t: TestContext): Promise<Participant[]> {
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
 * Allocates at a node and keeps the allocation. `endedAt` is the time of the node's last answer for the allocation: a later
 * request may be answered by the node's successor, at the same address, once that is offered.
 */
async function keepAllocation(address: string, [guest]: readonly Participant[]) {
  assert.ok(guest);
  const client = await TurnClient.open({ ip: address, port }, login(await guest.freshIceServers()));
  assert.equal((await client.allocate()).outcome, 'ok', address);
  const other = nodes.find((node) => node.address !== address)?.address ?? '';
  const watch = async (): Promise<number> => {
    let endedAt = performance.now();
    while ((await client.permit(other).catch(() => 'silent')) === 'ok') {
      endedAt = performance.now();
      await pause(ASK_EVERY_MS);
    }
    await client.close().catch(() => undefined);
    return endedAt;
  };
  return { address, endedAt: watch() };
}

async function useOfferedNodes(
  guest: Participant,
  attempts: Promise<Attempt>[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const servers = await guest.freshIceServers();
    const offeredAt = performance.now();
    const urls = servers.flatMap((server) => server.urls);
    const found = urls.map((url) => /^turn:([\d.]+):\d+\?transport=udp$/.exec(url)?.[1]);
    for (const node of found) if (node !== undefined) attempts.push(attempt(node, login(servers), offeredAt));
    await pause(ASK_EVERY_MS);
  }
}

/** The port belonged to an earlier allocation: a client that gets this error uses another port (RFC 8656, section 6.4). */
const allocationMismatch = 437;

async function attempt(node: string, login: Login, offeredAt: number): Promise<Attempt> {
  await pause(laterMs);
  const first = await allocate(node, login);
  return { node, offeredAt, outcome: first === allocationMismatch ? await allocate(node, login) : first };
}

async function allocate(node: string, login: Login): Promise<Attempt['outcome']> {
  const client = await TurnClient.open({ ip: node, port }, login);
  const outcome = await client.allocate().then(
    (answer) => answer.outcome,
    () => 'silent' as const,
  );
  // A server that did not answer does not answer the refresh either.
  await client.close().catch(() => undefined);
  return outcome;
}

function login(servers: readonly IceServer[]): Login {
  const server = servers.find(({ username }) => username !== undefined);
  assert.ok(server?.username !== undefined && server.credential !== undefined, 'no TURN server is offered');
  return { username: server.username, password: server.credential };
}
