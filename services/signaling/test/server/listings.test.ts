/** The pages of a comparison of what a region follows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryFollowed } from '../../src/adapters/memory-followed.ts';
import { Listings, pageOf } from '../../src/server/listings.ts';

const ROOMS = 100_000;
const PAGE = 5000;

test('[HOME-10] all pages of a comparison over 100,000 rooms come from one reading of the store, each room once', async () => {
  const rooms = Array.from({ length: ROOMS }, (_, at): [string, number] => [`room-${at}`, at + 1]);
  let readings = 0;
  const listings = new Listings({
    list() {
      readings += 1;
      return Promise.resolve({ ok: true, revisions: new Map(rooms) });
    },
  });
  const seen = new Map<string, number>();
  let pages = 0;
  for (let after: string | undefined, isLast = false; !isLast; pages += 1) {
    const list = await listings.of('eu', 'versions', after);
    assert.ok(list);
    const answer = pageOf(list, after, PAGE);
    for (const [name, revision] of answer.page) seen.set(name, revision);
    ({ isLast } = answer);
    after = answer.page.at(-1)?.[0];
  }
  assert.deepEqual([readings, pages], [1, ROOMS / PAGE]);
  assert.equal(seen.size, ROOMS);
  assert.ok(rooms.every(([name, revision]) => seen.get(name) === revision));
});

test('[HOME-10] a list that could not be read is read again', async () => {
  const followed = memoryFollowed();
  let isDown = true;
  const listings = new Listings({
    list: (home, which) =>
      isDown ? Promise.resolve({ ok: false, code: 'STORE_UNAVAILABLE' }) : followed.list(home, which),
  });
  assert.equal(await listings.of('eu', 'versions', undefined), undefined);
  isDown = false;
  assert.deepEqual(await listings.of('eu', 'versions', undefined), []);
});
