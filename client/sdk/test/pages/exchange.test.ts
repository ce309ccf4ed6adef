import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Site } from './fakes/site.ts';
import { comes, eventually, has, make, noise, view } from './fakes/steps.ts';

describe('a page moves from tab to tab', () => {
  test('[PAGE-6] A makes a page, B reads it from A, A closes, C reads it from B, B and C close, D learns that it is gone', async () => {
    const site = new Site();
    const a = site.open('a');
    const b = site.open('b');
    const bytes = noise(200_000);
    const { page } = await make(site, a, bytes);
    assert.deepEqual([view(a, page).state, view(a, page).own], ['here', true]);
    b.read(page, null);
    assert.notEqual(await comes(site, b, page), null);
    assert.ok(has(b, page, bytes));
    a.close();
    const c = site.open('c');
    c.read(page, null);
    assert.notEqual(await comes(site, c, page), null);
    assert.ok(has(c, page, bytes));
    b.close();
    c.close();
    const d = site.open('d');
    d.read(page, null);
    assert.notEqual(await site.clock.until(() => view(d, page).state === 'gone', 5000), null);
    const again = site.open('again');
    assert.equal((await make(site, again, bytes)).page, page);
    assert.notEqual(await comes(site, d, page), null);
    d.close();
    again.close();
    await site.clock.advance(20_000);
    assert.equal(site.clock.pending, 0, 'timers outlive the tabs');
  });

  test('[PAGE-4] an encrypted page is provided without its key, and read with it', async () => {
    const site = new Site();
    const a = site.open('a');
    const bytes = noise(100_000);
    const { page, key } = await make(site, a, bytes, true);
    const b = site.open('b');
    b.read(page, null);
    assert.notEqual(await comes(site, b, page), null);
    assert.deepEqual([view(b, page).encryption, view(b, page).head, b.content(page)], ['no-key', null, null]);
    a.close();
    const c = site.open('c');
    c.read(page, key);
    // The state is not `here` before the page can be read.
    await eventually(site, () => view(c, page).state === 'here');
    assert.ok(has(c, page, bytes));
    assert.deepEqual(view(c, page).head, { type: 'text/plain', name: null, bytes: bytes.length });
    b.read(page, 'A'.repeat(22));
    await eventually(site, () => view(b, page).encryption === 'wrong-key');
    assert.equal(b.content(page), null);
    let early = false;
    b.subscribe(() => {
      early ||= view(b, page).encryption === 'open' && b.content(page) === null;
    });
    b.read(page, key);
    await eventually(site, () => view(b, page).encryption === 'open');
    assert.equal(early, false, 'it is not called open before it can be read');
    assert.ok(has(b, page, bytes));
  });

  test('an empty page, and one of one byte', async () => {
    const site = new Site();
    const a = site.open('a');
    await make(site, a, noise(1));
    const refused = await a.make({ type: 'text/plain', name: null, bytes: noise(0) }, { encrypted: false });
    assert.equal('code' in refused && refused.code, 'BAD_REQUEST');
  });
});
