import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { codecName } from '../../src/live/codecs.ts';
import { nextBroadcastState, type BroadcastState } from '../../src/live/watch-session.ts';
import { sessionMs } from '@parley/sdk/sfu/transports';
import { ROUTES } from '@parley/protocol/routes';
import { REFUSALS } from '../../src/live/refusals.ts';
import { LiveRelays } from '../../src/live/relay-request.ts';

afterEach(() => {
  mock.restoreAll();
  mock.timers.reset();
});

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

const ANSWER = { broadcast: 'live/a b', relay: { url: 'https://r/', token: 't', certificateHashes: [] } };
const OTHER = { ...ANSWER, relay: { ...ANSWER.relay, url: 'https://far/' } };
const EU = { name: 'eu', url: 'https://eu.example' };
const US = { name: 'us', url: 'https://us.example' };
const refusal = (code: string, status = 503): Response =>
  Response.json({ code }, { status, headers: { 'retry-after': '2' } });

/** `answers`: by the URL, in turn, and the last one from then on; others are network errors. */
function answerWith(answers: Readonly<Record<string, readonly (() => Response | Promise<Response>)[]>>) {
  const asked: { readonly url: string; readonly body: unknown }[] = [];
  const left = new Map(Object.entries(answers).map(([url, list]) => [url, [...list]]));
  mock.method(globalThis, 'fetch', async (url: string, { body }: { readonly body?: string } = {}) => {
    asked.push({ url, body: body === undefined ? undefined : JSON.parse(body) });
    const list = left.get(url) ?? [];
    const answer = list.length > 1 ? list.shift() : list[0];
    if (answer === undefined) throw new TypeError('network');
    return answer();
  });
  return asked;
}
const regions = (...others: readonly (typeof US)[]) => ({
  '/v1/regions': [() => Response.json({ region: 'eu', regions: [EU, ...others] })],
});

test('the request names broadcast and purpose, and a refusal is recognised by its code and its stated time', async () => {
  const asked = answerWith({
    ...regions(),
    '/v1/live/a%20b': [() => Response.json(ANSWER)],
    '/v1/live/a': [
      () => refusal('SOMETHING', 400),
      () => refusal('RELAY_UNAVAILABLE'),
      () => new Response('', { status: 502 }),
    ],
  });
  const answer = await new LiveRelays('a b', true).request();
  const watched = new LiveRelays('a', false);
  await watched.request('https://r/');
  assert.deepEqual(
    asked.filter(({ url }) => url !== '/v1/regions'),
    [
      { url: '/v1/live/a%20b', body: { publish: true } },
      { url: '/v1/live/a', body: { publish: false, exclude: 'https://r/' } },
    ],
  );
  assert.deepEqual(answer, { assignment: ANSWER });
  const full = await watched.request();
  assert.ok('refused' in full && full.afterMs === 2000 && /No relay/.test(full.refused.title));
  const trouble = await watched.request();
  assert.ok('refused' in trouble && trouble.refused.again === 'later');
});

test('[MEDIA-26] where the region has no relay or no pod, or cannot be reached, another one is asked, whose edge leads to its relay', async () => {
  const asked = answerWith({
    ...regions(US),
    '/v1/live/a': [
      () => Response.json(ANSWER),
      () => refusal('RELAY_UNAVAILABLE'),
      () => refusal('NOT_READY'),
      () => Promise.reject(new TypeError('network')),
    ],
    [`${US.url}/v1/live/a`]: [() => Response.json(OTHER)],
  });
  const relays = new LiveRelays('a', false);
  assert.deepEqual(await relays.request(), { assignment: ANSWER });
  assert.equal(asked.filter(({ url }) => url.startsWith(US.url)).length, 0, 'the own one answers');
  const far = { assignment: { ...OTHER, relay: { ...OTHER.relay, api: US.url } } };
  for (const why of ['no relay', 'no pod', 'no answer'])
    assert.deepEqual(await relays.request('https://r/'), far, why);
  assert.equal(asked.filter(({ url }) => url === '/v1/regions').length, 1);
});

test('[MEDIA-26] a region that does not answer is not waited for, and one that refuses for another reason is not left', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const silent = Promise.withResolvers<Response>();
  answerWith({
    ...regions(US),
    '/v1/live/a': [() => Response.json(ANSWER), () => refusal('TOO_MANY_JOINS', 429), () => silent.promise],
    [`${US.url}/v1/live/a`]: [() => Response.json(OTHER)],
  });
  const relays = new LiveRelays('a', false);
  await relays.request();
  const refused = await relays.request();
  assert.ok('refused' in refused && /Too many/.test(refused.refused.title));
  const answer = relays.request('https://r/');
  mock.timers.tick(1500);
  assert.ok('assignment' in (await answer));
  silent.reject(new TypeError('network'));
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
