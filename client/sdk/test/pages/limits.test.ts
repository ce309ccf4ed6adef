import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PageContent, PageRefusal } from '../../src/pages/api.ts';
import { limits, Site } from './fakes/site.ts';
import { comes, make, noise, view } from './fakes/steps.ts';
import { instantSubtle } from './fakes/subtle.ts';

const content = (bytes: number, seed = 3): PageContent => ({
  type: 'text/plain',
  name: null,
  bytes: noise(bytes, seed),
});
const code = (answer: object): string => ('code' in answer ? (answer as PageRefusal).code : 'none');

describe('limits of the service, applied by the SDK too', () => {
  test('[PAGE-2] a page over the limit is refused before the SDK hashes or announces anything', async () => {
    const site = new Site();
    let hashed = 0;
    const subtle = instantSubtle();
    subtle.digest = async (...given) => {
      hashed += 1;
      return instantSubtle().digest(...given);
    };
    const a = site.open('a', {}, { subtle });
    const making = a.make(content(limits.pageBytes + 1), { encrypted: false });
    await site.clock.advance(1000);
    assert.equal(code(await making), 'PAGE_TOO_LARGE');
    const encrypted = await a.make(content(limits.pageBytes), { encrypted: true });
    assert.equal(code(encrypted), 'PAGE_TOO_LARGE', 'encrypted it is larger');
    assert.equal(hashed, 0);
    assert.deepEqual(site.sent, []);
    assert.equal(a.snapshot.pages.length, 0);
  });

  test('[PAGE-6] the number of pages of one visitor', async () => {
    const site = new Site();
    const a = site.open('a');
    for (let count = 0; count < limits.perVisitor; count += 1) await make(site, a, noise(10, count + 1));
    assert.equal(code(await a.make(content(10, 99), { encrypted: false })), 'TOO_MANY_PAGES');
    const other = 'b'.repeat(64);
    a.read(other, null);
    assert.deepEqual([view(a, other).state, view(a, other).refusal?.code], ['refused', 'TOO_MANY_PAGES']);
    const [first] = a.snapshot.pages;
    a.drop(first?.page ?? '');
    a.read(other, null);
    assert.equal(view(a, other).state, 'finding');
  });

  test('the size of all pages together', async () => {
    const site = new Site();
    site.limits = { ...limits, memoryBytes: 100_000 };
    const a = site.open('a');
    await make(site, a, noise(60_000));
    assert.equal(code(await a.make(content(60_000, 4), { encrypted: false })), 'PAGES_TOO_LARGE');
    const b = site.open('b');
    const { page } = await make(site, b, noise(60_000, 5));
    a.read(page, null);
    await site.clock.until(() => view(a, page).state === 'refused', 5000);
    assert.equal(view(a, page).refusal?.code, 'PAGES_TOO_LARGE');
    assert.equal(view(a, page).received, 0);
    await site.clock.until(() => site.present(page).readers === 0, 1000);
    assert.equal(site.present(page).readers, 0, 'it is not wanted any more');
  });

  test('two pages made at the same time count together', async () => {
    const site = new Site();
    site.limits = { ...limits, memoryBytes: 100_000 };
    const a = site.open('a');
    const both = [content(60_000, 1), content(60_000, 2)].map(async (one) =>
      a.make(one, { encrypted: false }),
    );
    await site.clock.advance(1000);
    assert.deepEqual((await Promise.all(both)).map(code), ['none', 'PAGES_TOO_LARGE']);
  });

  test('content without a media type, or with an invalid name', async () => {
    const site = new Site();
    const a = site.open('a');
    await make(site, a, noise(1));
    for (const wrong of [
      { type: 'text' },
      { type: 'text/html; charset=utf-8' },
      { name: '' },
      { name: 'x'.repeat(201) },
    ]) {
      assert.equal(code(await a.make({ ...content(10), ...wrong }, { encrypted: false })), 'BAD_REQUEST');
    }
  });

  test('later changes to the bytes, by the maker or by a reader, do not change a page', async () => {
    const site = new Site();
    const a = site.open('a');
    const bytes = noise(10);
    const { page } = await make(site, a, bytes);
    bytes.fill(0);
    a.content(page)?.bytes.fill(0);
    assert.deepEqual(a.content(page)?.bytes, noise(10));
  });

  test('a page made before there is a connection waits; if closed meanwhile, it is refused', async () => {
    const site = new Site();
    site.down = true;
    const a = site.open('a');
    const making = a.make(content(10), { encrypted: false });
    await site.clock.advance(10_000);
    a.close();
    assert.equal(code(await making), 'NOT_READY');
    assert.equal(site.clock.pending, 0);
  });
});

describe('refusals of the service', () => {
  test('[PAGE-7] too many requests: sent again after the time that the service states', async () => {
    const site = new Site();
    const a = site.open('a');
    const { page } = await make(site, a, noise(10));
    const [visitor] = site.visitors.values();
    visitor?.send({
      type: 'error',
      code: 'TOO_MANY_PAGE_REQUESTS',
      message: 'slower',
      fatal: false,
      retryAfterMs: 3000,
      ref: page,
    });
    const before = site.sent.filter(({ type }) => type === 'announce').length;
    await site.clock.advance(2500);
    assert.equal(site.sent.filter(({ type }) => type === 'announce').length, before);
    await site.clock.advance(1000);
    assert.equal(site.sent.filter(({ type }) => type === 'announce').length, before + 1);
    assert.equal(view(a, page).state, 'here');
  });

  test('[PAGE-6] too many pages: reported, and not tried again', async () => {
    const site = new Site();
    const a = site.open('a');
    const page = 'c'.repeat(64);
    a.read(page, null);
    await site.clock.advance(100);
    const [visitor] = site.visitors.values();
    visitor?.send({ type: 'error', code: 'TOO_MANY_PAGES', message: 'enough', fatal: false, ref: page });
    await site.clock.advance(100);
    assert.deepEqual([view(a, page).state, view(a, page).refusal?.message], ['refused', 'enough']);
    const sent = site.sent.length;
    await site.clock.advance(60_000);
    assert.ok(site.sent.slice(sent).every(({ type }) => type === 'ping'));
  });

  test('a request that no visitor fulfils is repeated at growing intervals', async () => {
    const site = new Site();
    const a = site.open('a');
    a.read('d'.repeat(64), null);
    await site.clock.advance(600_000);
    const wants = site.sent.filter(({ type }) => type === 'subscribe').length;
    assert.ok(wants >= 10 && wants <= 30, `${wants} times in ten minutes`);
  });
});

describe('the view of the application', () => {
  test('listeners are called at most every 100 ms, and the snapshot is the same until then', async () => {
    const site = new Site();
    site.rate = 50;
    const a = site.open('a');
    const { page } = await make(site, a, noise(400_000));
    const b = site.open('b');
    const times: number[] = [];
    const snapshots = new Set<unknown>();
    b.subscribe(() => {
      times.push(site.clock.now());
      snapshots.add(b.snapshot);
      assert.equal(b.snapshot, b.snapshot);
    });
    b.read(page, null);
    assert.equal(b.snapshot.pages.length, 1, 'seen at once');
    assert.notEqual(await comes(site, b, page, 60_000), null);
    assert.ok(times.length > 20);
    for (const [index, at] of times.entries()) assert.ok(index === 0 || at - (times[index - 1] ?? 0) >= 100);
    assert.equal(snapshots.size, times.length);
  });

  test('[PAGE-8] the counts, the last holder, and the history', async () => {
    const site = new Site();
    const a = site.open('a');
    const { page } = await make(site, a, noise(1000));
    await site.clock.until(() => view(a, page).last, 1000);
    assert.deepEqual([view(a, page).holders, view(a, page).readers, view(a, page).last], [1, 0, true]);
    const b = site.open('b');
    b.read(page, null);
    await comes(site, b, page);
    await site.clock.until(() => view(a, page).holders === 2 && view(b, page).holders === 2, 1000);
    assert.equal(view(a, page).last, false);
    a.drop(page);
    await site.clock.until(() => view(b, page).last, 1000);
    assert.equal(a.snapshot.pages.length, 0);
    assert.deepEqual(
      view(b, page).history.map(({ holders }) => holders),
      [1, 2, 1],
    );
    site.dropSockets('b');
    await site.clock.until(() => b.snapshot.connection === 'waiting', 1000);
    assert.deepEqual([view(b, page).holders, view(b, page).last, b.snapshot.visitors], [null, false, null]);
  });

  test('[PAGE-5] the reason why there is no connection', async () => {
    const site = new Site();
    const a = site.open('a');
    await site.clock.until(() => a.snapshot.connection === 'open', 1000);
    site.down = true;
    site.dropSockets('a', 4504);
    await site.clock.until(() => a.snapshot.connection === 'waiting', 1000);
    assert.equal(a.snapshot.refusal?.code, 'POD_FULL');
    site.down = false;
    await site.clock.until(() => a.snapshot.connection === 'open', 20_000);
    assert.equal(a.snapshot.refusal, null);
  });
});
