import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memorySeats } from '../../src/adapters/memory-seats.ts';
import type { RoomPolicy } from '@parley/protocol/bus';
import type { SeatChange } from '@parley/protocol/home';
import type { RoomSeats, Seat, SeatHolder, SeatOutcome, SeatStore } from '../../src/core/ports.ts';
import { Metrics } from '../../src/server/metrics.ts';
import { SeatKeeper, type Decided } from '../../src/server/seat-keeper.ts';
import { SeatWriter, type SeatWriterParts } from '../../src/server/seat-writer.ts';
import { eventually } from '../support/deadline.ts';

const nothing = {
  rooms: 0,
  sockets: 0,
  peers: 0,
  peersBeyond: new Map<string, number>(),
  connections: 0,
  mediaRelays: 0,
  turnNodes: 0,
  waiting: 0,
  unfollowed: 0,
  slots: 0,
  slotsGiven: 0,
  traces: undefined,
  arrivalsPerSecond: 0,
  joinsPerSecond: 0,
  bufferedBytes: 0,
  incompleteBytes: 0,
  pages: { visitors: 0, pages: 0, held: 0 },
};
const metrics = new Metrics(() => nothing);
const ROOM: RoomSeats = { room: 'panel@local', name: 'panel', incarnation: 'one', cap: 2 };

const POLICY: RoomPolicy = {
  revision: 1,
  incarnation: 'one',
  view: { room: 'panel@local', kind: 'named', homeRegion: 'local', cap: 2, locked: false, hardCap: true },
  bans: [],
  kicked: [],
  mutes: { all: false, participants: [] },
  coOwners: [],
};

interface Keeper {
  take(participant: string, room?: RoomSeats): Promise<Decided>;
  claim(room: RoomSeats, participant: string, holder?: SeatHolder): Promise<Decided>;
  free(room: RoomSeats, participant: string): void;
}

const writerOf = (store: SeatStore, parts: Partial<SeatWriterParts> = {}): SeatWriter =>
  new SeatWriter({
    store,
    metrics,
    isAbandoned: () => false,
    mayLive: () => false,
    restMs: () => 0,
    readPolicy: () => Promise.resolve(POLICY),
    ...parts,
  });

/** As a pod of the home region has it. */
function keeper(
  store: SeatStore,
  options: {
    pod?: string;
    isAbandoned?: (seat: Seat) => boolean;
    restMs?: () => number;
    readPolicy?: () => Promise<RoomPolicy | undefined>;
  } = {},
): Keeper {
  const { pod = 'pod-a', isAbandoned = () => false, restMs = () => 0 } = options;
  const { readPolicy = () => Promise.resolve(POLICY) } = options;
  const writer = writerOf(store, { isAbandoned: (_room, seat) => isAbandoned(seat), restMs, readPolicy });
  const seats = new SeatKeeper({
    commit: async (...asked) => (await writer.commit(...asked)) ?? 'unavailable',
    holder: { pod, boot: 7 },
    metrics,
  });
  const change = (room: RoomSeats, asked: SeatChange): Promise<Decided> =>
    new Promise((resolve) => {
      seats.change(room, asked, resolve);
    });
  return {
    take: (participant, room = ROOM) => change(room, { act: 'take', participant }),
    claim: (room, participant, holder) =>
      change(room, { act: 'claim', participant, ...(holder && { holder }) }),
    free: (room, participant) => void change(room, { act: 'free', participant }),
  };
}

const take = async (seats: Keeper, participant: string, room = ROOM): Promise<SeatOutcome> =>
  (await seats.take(participant, room)).outcome;

async function seated(store: SeatStore): Promise<string[]> {
  const read = await store.read(ROOM.name);
  return read.ok ? (read.plan?.seats ?? []).map(({ participant, pod }) => `${participant} ${pod}`) : [];
}

/** Counts writes, and fails or is slow where a test wants it. */
function watched(inner: SeatStore): SeatStore & { writes: number; isDown: boolean } {
  const store = {
    ...inner,
    writes: 0,
    isDown: false,
    async read(name: string) {
      return store.isDown ? ({ ok: false, code: 'STORE_UNAVAILABLE' } as const) : inner.read(name);
    },
    async write(...args: Parameters<SeatStore['write']>) {
      if (store.isDown) return { ok: false, code: 'STORE_UNAVAILABLE' } as const;
      store.writes += 1;
      return inner.write(...args);
    },
  };
  return store;
}

describe('seats, as a pod changes them', () => {
  test('[MOD-7] all changes that arrive during a write share the next one', async () => {
    const store = watched(memorySeats());
    const seats = keeper(store);
    const room = { ...ROOM, cap: 100 };
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, at) => take(seats, `p${at}`, room)));
    assert.deepEqual(new Set(outcomes), new Set(['taken']));
    assert.ok(store.writes <= 2, `${store.writes} writes`);
  });

  test('[MOD-7] two pods that write at once never give one seat twice', async () => {
    const store = memorySeats();
    const pods = ['pod-a', 'pod-b', 'pod-c'].map((pod) => keeper(store, { pod }));
    const outcomes = await Promise.all(
      pods.flatMap((seats, at) => [take(seats, `p${at}0`), take(seats, `p${at}1`)]),
    );
    assert.equal(outcomes.filter((outcome) => outcome === 'taken').length, 2);
    assert.equal((await seated(store)).length, 2);
  });

  test('[MOD-7] a refusal is never from memory: a seat that another pod freed meanwhile is found', async () => {
    const store = memorySeats();
    const here = keeper(store);
    const there = keeper(store, { pod: 'pod-b' });
    const room = { ...ROOM, cap: 1 };
    assert.equal(await take(there, 'p1', room), 'taken');
    assert.equal(await take(here, 'p2', room), 'full');
    there.free(room, 'p1');
    await eventually('the seat is free', async () => (await seated(store)).length === 0);
    assert.equal(await take(here, 'p2', room), 'taken');
  });

  test('[MOD-7] [RES-12] distinguishes a seat that the participant had from one that it takes now', async () => {
    const store = watched(memorySeats());
    const wasHeld = async (seats: Keeper): Promise<boolean> => (await seats.take('p1')).wasHeld;
    assert.equal(await wasHeld(keeper(store)), false);
    for (const pod of ['pod-a', 'pod-b']) assert.equal(await wasHeld(keeper(store, { pod })), true, pod);
  });

  test('[MOD-7] a pod frees its own seats only', async () => {
    const store = memorySeats();
    const here = keeper(store);
    const there = keeper(store, { pod: 'pod-b' });
    await take(here, 'p1');
    void there.claim(ROOM, 'p1');
    await eventually('it sits there', async () => (await seated(store)).includes('p1 pod-b'));
    here.free(ROOM, 'p1');
    await take(here, 'p2');
    assert.deepEqual((await seated(store)).toSorted(), ['p1 pod-b', 'p2 pod-a']);
  });

  test('[MOD-7] a pod hands over a seat that names it, and no other', async () => {
    const store = memorySeats();
    const here = keeper(store);
    await take(here, 'p1');
    void here.claim(ROOM, 'p1', { pod: 'pod-b', boot: 9 });
    await take(here, 'p2');
    assert.deepEqual((await seated(store)).toSorted(), ['p1 pod-b', 'p2 pod-a']);
    void here.claim(ROOM, 'p1', { pod: 'pod-c', boot: 9 });
    void here.claim(ROOM, 'p3', { pod: 'pod-c', boot: 9 });
    await take(here, 'p2');
    assert.deepEqual((await seated(store)).toSorted(), ['p1 pod-b', 'p2 pod-a']);
  });

  test('[MOD-7] seats to be freed while the store is unreachable are freed when it is back, and a refused seat has no holder', async () => {
    const store = watched(memorySeats());
    const seats = keeper(store);
    await take(seats, 'p1');
    store.isDown = true;
    assert.equal(await take(seats, 'p2'), 'unavailable');
    seats.free(ROOM, 'p1');
    store.isDown = false;
    await eventually('both are free', async () => (await seated(store)).length === 0);
  });

  test('[HOME-3] the policy is that of after the write, and without it no seat is given', async () => {
    const inner = memorySeats();
    let policy: RoomPolicy | undefined = POLICY;
    const store: SeatStore = {
      ...inner,
      write(...args) {
        // A ban, while the seat is written.
        if (policy !== undefined) policy = { ...policy, revision: policy.revision + 1 };
        return inner.write(...args);
      },
    };
    const seats = keeper(store, { readPolicy: () => Promise.resolve(policy) });
    assert.equal((await seats.take('p1')).policy?.revision, 2);
    policy = undefined;
    assert.equal((await seats.take('p2')).outcome, 'unavailable');
    await eventually('its seat is freed', async () => (await seated(inner)).join() === 'p1 pod-a');
  });

  test('[MOD-7] while the store is unreachable each newcomer is answered, however many changes wait', async () => {
    const store = watched(memorySeats());
    store.isDown = true;
    const seats = keeper(store);
    for (let at = 0; at < 1200; at += 1) seats.free(ROOM, `p${at}`);
    const outcomes = Array.from({ length: 20 }, (_, at) => take(seats, `q${at}`));
    assert.deepEqual(new Set(await Promise.all(outcomes)), new Set(['unavailable']));
    store.isDown = false;
    assert.equal(await take(seats, 'r'), 'taken');
  });

  test('[HOME-3] a change that is asked for too late is not made', async () => {
    const store = memorySeats();
    const writer = writerOf(store);
    const by = { pod: 'us_b', boot: 1 };
    const late = { act: 'take' as const, participant: 'p1', by, dueAt: performance.now() - 1 };
    await writer.commit(ROOM, [late, { ...late, participant: 'p2', dueAt: Infinity }], {});
    assert.deepEqual(await seated(store), ['p2 us_b']);
  });

  test('[MOD-7] a full room takes seats of dead pods only', async () => {
    const store = memorySeats();
    await take(keeper(store, { pod: 'dead' }), 'p1');
    await take(keeper(store, { pod: 'pod-b' }), 'p2');
    const seats = keeper(store, { isAbandoned: ({ pod }) => pod === 'dead' });
    assert.equal(await take(seats, 'p3'), 'taken');
    assert.equal(await take(seats, 'p4'), 'full');
    assert.deepEqual((await seated(store)).toSorted(), ['p2 pod-b', 'p3 pod-a']);
  });

  test('[MOD-9] a participant that resumes into a deleted room takes no seat of the one created again', async () => {
    const store = memorySeats();
    const seats = keeper(store);
    await take(seats, 'p1');
    const again = { ...ROOM, incarnation: 'two' };
    assert.equal(await take(seats, 'p2', again), 'taken');
    void seats.claim(ROOM, 'p1');
    assert.equal(await take(seats, 'p3', again), 'taken');
    assert.deepEqual((await seated(store)).toSorted(), ['p2 pod-a', 'p3 pod-a']);
  });

  test('[MOD-7] [MOD-13] a request of an ended call that comes late leaves the seats of the next one', async () => {
    const store = memorySeats();
    const next = { ...ROOM, incarnation: 'one.1' };
    const after = keeper(store, { readPolicy: () => Promise.resolve({ ...POLICY, incarnation: 'one.1' }) });
    assert.equal(await take(after, 'p1', next), 'taken');
    assert.equal(await take(after, 'p2', ROOM), 'unavailable');
    assert.deepEqual(await seated(store), ['p1 pod-a']);
    // A record that was restored from before the end has fewer calls than the seats.
    assert.equal(await take(keeper(store), 'p3', ROOM), 'taken');
    assert.deepEqual(await seated(store), ['p3 pod-a']);
  });
});
