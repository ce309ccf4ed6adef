import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RELAY_CODES } from '@parley/protocol/relay-codes';
import { DISCONNECT_REASONS, closeReason, codeReason } from '../../src/streams/disconnect-reasons.ts';
import { retryDelayMs } from '@parley/sdk/sfu/retry-delay';

/** Codes of media relays only: no stream closes with them. */
const OF_MEDIA = new Set([
  'TOO_MANY_SESSIONS',
  'TOO_MANY_BROADCASTS',
  'TOO_MANY_SUBSCRIPTIONS',
  'TOO_MANY_HANDSHAKES',
]);

test('every code of the relay has its sentences', () => {
  assert.deepEqual(
    Object.keys(RELAY_CODES).filter(
      (name) => !Object.hasOwn(DISCONNECT_REASONS, name) && !OF_MEDIA.has(name),
    ),
    [],
  );
});

test('the sentences are complete, and the user is asked for a token only if one helps', () => {
  for (const [code, { title, body, token }] of Object.entries(DISCONNECT_REASONS)) {
    assert.match(title, /^[A-Z][^.]+$/, code);
    assert.match(body, /^[A-Z].+\.$/, code);
    assert.equal(token ?? false, /^TOKEN_|^CODE_/.test(code), code);
  }
});

test('a closed socket is classified by its reason, otherwise by its code', () => {
  const again = (code: number, reason: string, opened = true): string =>
    closeReason({ code, reason }, opened).again;
  assert.equal(again(1012, 'GOAWAY'), 'at-once');
  assert.equal(again(1012, ''), 'at-once');
  assert.equal(again(1006, ''), 'later');
  assert.equal(again(1006, '', false), 'later');
  assert.equal(again(1008, 'TOPIC_INVALID'), 'never');
  assert.equal(again(1008, 'SOMETHING_NEW'), 'never');
  assert.match(closeReason({ code: 1008, reason: 'SOMETHING_NEW' }, true).body, /SOMETHING_NEW/);
  assert.doesNotMatch(codeReason('<b>bold</b> constructor').body, /bold/);
  assert.equal(codeReason('constructor').again, 'never');
});

test('[STR-70] after a restart close the page reconnects immediately, but not in a loop', () => {
  assert.equal(retryDelayMs('at-once', 0, 0.9), 0);
  assert.equal(retryDelayMs('at-once', 1, 1), 1000);
});

test('after other losses it waits a random time that grows up to ten seconds; after a refusal it does not reconnect', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 50].map((tries) => retryDelayMs('later', tries, 1)),
    [500, 1000, 2000, 4000, 8000, 10_000, 10_000],
  );
  assert.equal(retryDelayMs('later', 5, 0.25), 2500);
  assert.equal(retryDelayMs('never', 0, 1), null);
});
