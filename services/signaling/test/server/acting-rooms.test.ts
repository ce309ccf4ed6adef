/** What a region takes over from one that was replaced. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TERM_REVISIONS } from '@parley/protocol/home';
import { memoryFollowed } from '../../src/adapters/memory-followed.ts';
import type { FollowedRoom, FollowedStore, RoomRecord } from '../../src/core/ports.ts';
import { takeOver } from '../../src/server/acting-rooms.ts';
import { recordOf } from '../support/room-record.ts';

const TERM = { home: 'eu', term: 1 };
const FIRST = TERM_REVISIONS;

const ban = (id: string): RoomRecord['bans'][number] => ({
  id,
  name: id,
  at: 1,
  device: id,
  network: undefined,
});
async function storeWith(room: FollowedRoom | undefined): Promise<FollowedStore> {
  const store = memoryFollowed();
  if (room !== undefined) await store.replace('eu', 'standup', room, 0);
  return store;
}

async function taken(
  room: FollowedRoom | undefined,
  handed: FollowedRoom,
): Promise<FollowedRoom | undefined> {
  const store = await storeWith(room);
  assert.ok(await takeOver(store, TERM, 'standup', handed));
  const read = await store.read('eu', 'standup');
  assert.ok(read.ok);
  if (read.found === undefined) return undefined;
  const { revision, includes, record: kept } = read.found;
  return { revision, includes, record: kept };
}

describe('a version that another region hands over', () => {
  const followed = { revision: 5, record: recordOf() };
  const locked = { revision: 7, record: recordOf({ locked: true, bans: [ban('a')] }) };

  test('[HOME-13] counts whole in a room that is unknown, or was not written here', async () => {
    for (const room of [undefined, followed])
      assert.deepEqual(await taken(room, locked), {
        revision: FIRST + 1,
        includes: 7,
        record: locked.record,
      });
  });

  test('[HOME-13] [MOD-13] a call that either region ended stays ended', async () => {
    const written = { revision: FIRST + 3, includes: 5, record: recordOf({ calls: 1 }) };
    for (const [calls, most] of [
      [0, 1],
      [2, 2],
    ] as const) {
      const kept = await taken(written, { revision: 7, record: recordOf({ calls }) });
      assert.equal(kept?.record?.calls, most);
    }
  });

  test('[HOME-13] [MOD-16] co-owners are those of both, in the same call, and no one that either region kicked', async () => {
    const [ada, bo, cy] = ['p0000000000000001', 'p0000000000000002', 'p0000000000000003'] as const;
    const written = { revision: FIRST + 3, includes: 5, record: recordOf({ coOwners: [ada, bo] }) };
    const kicked = [{ participant: bo, until: 1 }];
    for (const [change, coOwners] of [
      [{ coOwners: [bo, cy] }, [bo]],
      [{ coOwners: [bo, cy], kicked }, []],
      [{ coOwners: [bo], calls: 1 }, []],
    ] as const) {
      const kept = await taken(written, { revision: 7, record: recordOf(change) });
      assert.deepEqual(kept?.record?.coOwners, coOwners);
    }
  });

  test('[HOME-13] adds its bans to a room that was written here, and nothing else', async () => {
    const written = { revision: FIRST + 3, includes: 5, record: recordOf({ bans: [ban('b')] }) };
    const merged = recordOf({ bans: [ban('a'), ban('b')] });
    assert.deepEqual(await taken(written, locked), { revision: FIRST + 4, includes: 7, record: merged });
    const another = { revision: 7, record: recordOf({ ownerKeyHash: 'another', bans: [ban('a')] }) };
    assert.deepEqual(await taken(written, another), written);
    assert.deepEqual(await taken(written, { revision: 7, record: undefined }), written);
  });

  test('[HOME-13] brings no room back that was removed here', async () => {
    const removed = { revision: FIRST + 3, includes: 5, record: undefined };
    assert.deepEqual(await taken(removed, locked), removed);
  });

  test('[HOME-13] is newer afterwards than all that a region of the same term wrote', async () => {
    const beside = { ...locked, revision: FIRST + 9, includes: 5 };
    const kept = await taken(followed, beside);
    assert.equal(kept?.revision, FIRST + 10);
  });
});
