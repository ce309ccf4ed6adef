import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOfText, placeOf, publishPath, watchPath } from '../../src/live/name.ts';
import { isPage } from '../../src/route.ts';

test('an address under /live watches, publishes, or asks for a name', () => {
  assert.deepEqual(placeOf('/live'), { at: 'choice' });
  assert.deepEqual(placeOf('/live/'), { at: 'choice' });
  assert.deepEqual(placeOf('/live/talk'), { at: 'watch', name: 'talk' });
  assert.deepEqual(placeOf('/live/caf%C3%A9/'), { at: 'watch', name: 'café' });
  assert.deepEqual(placeOf('/live/talk/publish'), { at: 'publish', name: 'talk' });
  assert.deepEqual(placeOf('/live/publish'), { at: 'watch', name: 'publish' });
  for (const nowhere of [
    '/live/talk/other',
    '/live/a/publish/b',
    '/live/%2e%2e',
    '/live/a%2Fb',
    '/live/**',
    '/live/%',
  ])
    assert.deepEqual(placeOf(nowhere), { at: 'nowhere' }, nowhere);
});

test('the server answers addresses under /live with the page, and similar addresses not', () => {
  assert.ok(isPage('/live') && isPage('/live/talk') && isPage('/live/talk/publish'));
  assert.ok(!isPage('/lively'));
});

test('pasted text is recognised: a link to either page, a path, a name', () => {
  for (const text of [' talk ', '/live/talk', 'https://parley.example/live/talk/publish?x#y'])
    assert.equal(nameOfText(text), 'talk', text);
  for (const text of ['', '  ', 'two words', 'a/b', '..', 'x'.repeat(129)])
    assert.equal(nameOfText(text), undefined, text);
});

test('a name is one segment of the address, whatever it contains', () => {
  assert.equal(watchPath('a?b#c'), '/live/a%3Fb%23c');
  assert.deepEqual(placeOf(publishPath('a?b#c')), { at: 'publish', name: 'a?b#c' });
});
