import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOfText, liveRoute, publishPath, watchPath } from '../../src/live/live-route.ts';
import { isPage } from '../../src/route.ts';

test('an address under /live watches, publishes, or asks for a name', () => {
  assert.deepEqual(liveRoute('/live'), { at: 'index' });
  assert.deepEqual(liveRoute('/live/'), { at: 'index' });
  assert.deepEqual(liveRoute('/live/talk'), { at: 'watch', name: 'talk' });
  assert.deepEqual(liveRoute('/live/caf%C3%A9/'), { at: 'watch', name: 'café' });
  assert.deepEqual(liveRoute('/live/talk/publish'), { at: 'publish', name: 'talk' });
  assert.deepEqual(liveRoute('/live/publish'), { at: 'watch', name: 'publish' });
  for (const nowhere of [
    '/live/talk/other',
    '/live/a/publish/b',
    '/live/%2e%2e',
    '/live/a%2Fb',
    '/live/**',
    '/live/%',
  ])
    assert.deepEqual(liveRoute(nowhere), { at: 'invalid' }, nowhere);
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
  assert.deepEqual(liveRoute(publishPath('a?b#c')), { at: 'publish', name: 'a?b#c' });
});
