import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryRooms } from '../../src/adapters/memory-rooms.ts';
import { memorySeats } from '../../src/adapters/memory-seats.ts';
import type { RoomRecord, RoomStore, SeatStore, StoredRoom } from '../../src/core/ports.ts';
import { roomLifetime } from '../../src/core/room-life.ts';
import { RoomRenewals } from '../../src/server/room-renewals.ts';
import { incarnationOf } from '../../src/server/rooms.ts';
import { eventually } from '../support/deadline.ts';

const DAY_MS = 86_400_000;
const IDLE_MS = 90 * DAY_MS;
const CALL_IDLE_MS = 14 * DAY_MS;
const RECORD: RoomRecord = {
  name: 'panel',
  region: 'local',
  cap: 2,
  hardCap: true,
  locked: false,
  lobby: false,
  bans: [],
  kicked: [],
  mutes: { all: false, participants: [] },
  coOwners: [],
  calls: 0,
  ownerKeyHash: 'a-hash-of-an-owner-key',
  createdAt: 1,
};

class World {
  readonly rooms = memoryRooms();
  readonly seats = memorySeats();
  readonly written: string[] = [];
  seatsAreDown = false;
  readonly renewals: RoomRenewals;

  constructor() {
    const store: RoomStore = {
      ...this.rooms,
      update: (room, record) => {
        this.written.push('room');
        return this.rooms.update(room, record);
      },
    };
    const seats: SeatStore = {
      ...this.seats,
      write: (name, plan, revision) => {
        if (this.seatsAreDown) return Promise.resolve({ ok: false, code: 'STORE_UNAVAILABLE' });
        this.written.push('seats');
        return this.seats.write(name, plan, revision);
      },
    };
    this.renewals = new RoomRenewals({ store, seats, times: { idleMs: IDLE_MS, callIdleMs: CALL_IDLE_MS } });
  }

  async room(agedMs: number, record = RECORD): Promise<StoredRoom> {
    await this.rooms.create(record);
    const read = await this.rooms.read(record.name);
    assert.ok(read.ok && read.found !== undefined);
    return { ...read.found, writtenAt: read.found.writtenAt - agedMs };
  }
}

describe('recording that a room was used', () => {
  test('[ROOM-11] a room that was written within a thirtieth of its idle time is not written again', async () => {
    const world = new World();
    world.renewals.use(await world.room(3 * DAY_MS - 60_000));
    await settled();
    assert.deepEqual(world.written, []);
  });

  test('[ROOM-11] a hundred participants that enter at once cost one write of the room, unchanged', async () => {
    const world = new World();
    const stored = await world.room(3 * DAY_MS, { ...RECORD, hardCap: false });
    for (let times = 0; times < 100; times += 1) world.renewals.use(stored);
    await eventually('it is written', () => world.written.length > 0);
    await settled();
    assert.deepEqual(world.written, ['room']);
    const read = await world.rooms.read('panel');
    assert.ok(read.ok);
    assert.deepEqual(read.found?.record, stored.record);
  });

  test('[ROOM-11] the seats of a room are written with it, before it; seats of an earlier room of its name are not', async () => {
    for (const [incarnation, expected] of [
      [incarnationOf(RECORD), ['seats', 'room']],
      ['another', ['room']],
    ] as const) {
      const world = new World();
      const plan = { incarnation, seats: [{ participant: 'p1', pod: 'pod-a', boot: 7 }] };
      await world.seats.write('panel', plan, 0);
      world.renewals.use(await world.room(3 * DAY_MS));
      await eventually('the room is written', () => world.written.includes('room'));
      assert.deepEqual(world.written, expected);
      const read = await world.seats.read('panel');
      assert.deepEqual(read.ok && read.plan, plan);
    }
  });

  test('[ROOM-11] what the store did not take is tried again at the next use', async () => {
    const world = new World();
    const plan = { incarnation: incarnationOf(RECORD), seats: [] };
    await world.seats.write('panel', plan, 0);
    const stored = await world.room(3 * DAY_MS);
    world.seatsAreDown = true;
    world.renewals.use(stored);
    await settled();
    assert.deepEqual(world.written, []);
    world.seatsAreDown = false;
    world.renewals.use(stored);
    await eventually('the room is written', () => world.written.includes('room'));
  });

  test('[ROOM-13] the first use of the room of a call is written at once, and the room lives longer from then on', async () => {
    const world = new World();
    const call = { ...RECORD, hardCap: false, idleMs: DAY_MS };
    world.renewals.use(await world.room(0, call));
    await eventually('it is written', () => world.written.length > 0);
    const read = await world.rooms.read('panel');
    assert.ok(read.ok && read.found !== undefined);
    assert.deepEqual(read.found.record, { ...call, idleMs: CALL_IDLE_MS });
    world.renewals.use({ ...read.found, writtenAt: read.found.writtenAt - CALL_IDLE_MS / 30 + 60_000 });
    await settled();
    assert.deepEqual(world.written, ['room']);
    world.renewals.use({ ...read.found, writtenAt: read.found.writtenAt - CALL_IDLE_MS / 30 });
    await eventually('it is written again', () => world.written.length > 1);
  });

  test('[ROOM-10] the store keeps a room for its idle time after the last use that may have gone unrecorded', () => {
    assert.equal(roomLifetime(IDLE_MS), 93 * DAY_MS);
  });
});

/** The stores here answer within a turn of the event loop. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
