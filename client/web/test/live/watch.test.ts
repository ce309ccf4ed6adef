import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { codecName } from '../../src/live/codecs.ts';
import { nextBroadcastState, type BroadcastState } from '../../src/live/watch-session.ts';
import { sessionMs } from '@parley/sdk/sfu/transports';
import { ROUTES } from '@parley/protocol/http';
import { REFUSALS } from '../../src/live/refusals.ts';
import { requestRelay } from '../../src/live/relay-request.ts';

afterEach(() => mock.restoreAll());

test('a page distinguishes a broadcast that has not begun from one that has ended', () => {
  const after = (...statuses: ('offline' | 'loading' | 'live')[]): BroadcastState =>
    statuses.reduce<BroadcastState>((before, status) => nextBroadcastState(before, status), 'not-started');
  assert.equal(after('offline'), 'not-started');
  assert.equal(after('loading'), 'starting');
  assert.equal(after('loading', 'offline'), 'not-started');
  assert.equal(after('loading', 'live'), 'playing');
  assert.equal(after('live', 'offline'), 'gone');
  assert.equal(after('live', 'offline', 'loading'), 'gone');
  assert.equal(after('live', 'loading'), 'playing', 'the last picture stands until the next one');
  assert.equal(after('live', 'offline', 'loading', 'live'), 'playing');
});

test('a lost connection is not shown as the end of the broadcast', () => {
  assert.equal(nextBroadcastState('playing', 'offline', false), 'playing');
  assert.equal(nextBroadcastState('playing', 'offline', true), 'gone');
  assert.equal(nextBroadcastState('starting', 'offline', false), 'not-started');
});

test('the request names broadcast and purpose, and a refusal is recognised by its code and its stated time', async () => {
  const asked: unknown[] = [];
  const answers = [
    Response.json({ broadcast: 'live/a b', relay: { url: 'https://r/', token: 't', certificateHashes: [] } }),
    Response.json({ code: 'SOMETHING' }, { status: 400 }),
    Response.json({ code: 'RELAY_UNAVAILABLE' }, { status: 503, headers: { 'retry-after': '2' } }),
    new Response('bad gateway', { status: 502 }),
  ];
  mock.method(globalThis, 'fetch', (url: string, { body }: { readonly body: string }) => {
    asked.push([url, JSON.parse(body)]);
    const answer = answers.shift();
    return answer ? Promise.resolve(answer) : Promise.reject(new TypeError('network'));
  });
  const answer = await requestRelay('a b', true);
  await requestRelay('a', false, 'https://r/');
  assert.deepEqual(asked, [
    ['/v1/live/a%20b', { publish: true }],
    ['/v1/live/a', { publish: false, exclude: 'https://r/' }],
  ]);
  assert.ok('assignment' in answer && answer.assignment.broadcast === 'live/a b');
  const full = await requestRelay('a', false);
  assert.ok('refused' in full && full.afterMs === 2000 && /No relay/.test(full.refused.title));
  for (const trouble of [await requestRelay('a', false), await requestRelay('a', false)])
    assert.ok('refused' in trouble && trouble.refused.again === 'later');
});

test('[MEDIA-5] the duration of a session is taken from its token, whatever the clock of the page says', () => {
  const lasts = (token: string) => sessionMs({ url: 'https://r/', token, certificateHashes: [] });
  const payload = btoa(JSON.stringify({ sub: 'ÿ>?', iat: 5, exp: 65 }));
  assert.equal(
    lasts(`e30.${payload.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}.AA`),
    60_000,
  );
  for (const other of ['', 'a.b.c', `e30.${btoa('{"iat":5}')}.AA`, `e30.${btoa('null')}.AA`])
    assert.equal(lasts(other), null, other);
});

test('codecs have their common names, and an unknown codec keeps its own', () => {
  assert.deepEqual(['avc1.640028', 'vp09.00.10.08', 'opus', 'xyz'].map(codecName), [
    'H.264',
    'VP9',
    'Opus',
    'xyz',
  ]);
});

test('every code that may answer the request for a relay has a sentence', () => {
  const ofOurRequest = new Set(['BAD_REQUEST', 'BODY_TOO_LARGE']);
  const codes = ROUTES.openLive.codes.filter((code) => !ofOurRequest.has(code));
  assert.deepEqual(
    codes.filter((code) => !Object.hasOwn(REFUSALS, code)),
    [],
  );
});
