import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredRoom } from '../../src/core/ports.ts';
import { FarRooms } from '../../src/server/far-rooms.ts';
import type { Homes } from '../../src/server/homes.ts';

const ROOM = { room: 'standup@eu', name: 'standup', region: 'eu' };
const stored = (revision: number): StoredRoom => ({ revision }) as StoredRoom;

type Read = Awaited<ReturnType<Homes['read']>>;

/** A home region that answers when it is told to; its revision grows with each read. */
class Home {
  now = 0;
  reads = 0;
  exists = true;
  readonly #waiting: (() => void)[] = [];
  readonly far: FarRooms;

  constructor(maxRooms = 10) {
    this.far = new FarRooms({ homes: { read: () => this.#read() }, maxRooms, now: () => this.now });
  }

  #read(): Promise<Read> {
    this.reads += 1;
    const found = this.exists ? stored(this.reads) : undefined;
    return new Promise((resolve) => {
      this.#waiting.push(() => resolve({ ok: true, found }));
    });
  }

  async answer(): Promise<void> {
    for (const act of this.#waiting.splice(0)) act();
    await new Promise(setImmediate);
  }

  async read(maxAgeMs: number, room = ROOM): Promise<number | undefined> {
    const read = this.far.read(room, { maxAgeMs, isUsed: false });
    await this.answer();
    const known = await read;
    return known.ok ? known.found?.revision : undefined;
  }
}

describe('rooms of other regions', () => {
  test('[HOME-2] what was read is used for a while, and not where the home region must be asked', async () => {
    const home = new Home();
    assert.equal(await home.read(60_000), 1);
    home.now = 59_999;
    assert.equal(await home.read(60_000), 1);
    assert.equal(await home.read(2000), 2);
    assert.equal(await home.read(0), 3);
    home.now += 60_000;
    assert.equal(await home.read(60_000), 4);
  });

  test('[HOME-2] the age is that of the request, not of the answer', async () => {
    const home = new Home();
    const first = home.far.read(ROOM, { maxAgeMs: 0, isUsed: false });
    home.now = 1500;
    await home.answer();
    assert.equal((await first).ageMs, 0);
    assert.equal((await home.far.read(ROOM, { maxAgeMs: 2000, isUsed: false })).ageMs, 1500);
  });

  test('[HOME-2] a room that does not exist is asked for again', async () => {
    const home = new Home();
    home.exists = false;
    assert.equal(await home.read(60_000), undefined);
    home.exists = true;
    assert.equal(await home.read(60_000), 2);
  });

  test('[HOME-2] all that ask during a read share one further read, which begins after they asked', async () => {
    const home = new Home();
    const ask = (): Promise<Read> => home.far.read(ROOM, { maxAgeMs: 0, isUsed: false });
    const first = ask();
    const others = Array.from({ length: 50 }, ask);
    assert.equal(home.reads, 1);
    await home.answer();
    assert.equal(home.reads, 2);
    const late = ask();
    await home.answer();
    await home.answer();
    const revisions = await Promise.all(
      [first, ...others, late].map(async (one) => {
        const read = await one;
        return read.ok ? read.found?.revision : undefined;
      }),
    );
    assert.deepEqual(revisions, [1, ...others.map(() => 2), 3]);
    assert.equal(await home.read(0), 4);
  });

  test('[HOME-2] as many rooms are kept as the limit says (home.cachedRooms)', async () => {
    const home = new Home(2);
    const rooms = ['a', 'b', 'c'].map((name) => ({ ...ROOM, room: `${name}@eu`, name }));
    for (const room of rooms) await home.read(60_000, room);
    assert.equal(home.reads, 3);
    for (const room of rooms.slice(1)) await home.read(60_000, room);
    assert.equal(home.reads, 3);
    await home.read(60_000, rooms[0]);
    assert.equal(home.reads, 4);
  });
});
