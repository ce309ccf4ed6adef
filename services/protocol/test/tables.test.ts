import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { describe, it, test } from 'node:test';
import { MEANINGS } from '../src/code-meanings.ts';
import { CODES, codeNames, codeOfClose, knownCode, reconnects, type Code } from '../src/codes.ts';
import { decode } from '../src/decode.ts';
import { ErrorAnswer } from '../src/http.ts';
import { ROUTES, type Route } from '../src/routes.ts';
import { RELAY_CODES, type RelayCodeEntry } from '../src/relay-codes.ts';
import { defaultLimits, LIMITS, limitKey, limitNames } from '../src/limits.ts';
import { MAX_DIRECTED_ID_BYTES } from '../src/directed.ts';

/** Close codes that several codes share: a client reacts to each in the same way, and `error` named the code before. */
const SHARED_CLOSES: Readonly<Record<number, readonly Code[]>> = {
  4400: ['BAD_MESSAGE', 'UNKNOWN_TYPE'],
  4404: ['ROOM_INVALID', 'ROOM_NOT_FOUND'],
};
/** Codes that any address or the edge may answer, and codes of refused upgrades and of sockets. */
const CODES_WITHOUT_ROUTE: ReadonlySet<Code> = new Set([
  'NOT_FOUND',
  'INTERNAL',
  'ROOM_DELETED',
  'TOO_MANY_SOCKETS',
  'HEADERS_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'LOBBY_DENIED',
]);
/** No route answers these codes: they are sent on a socket, or close it. */
const SOCKET_CODES: ReadonlySet<Code> = new Set([
  'TOO_MANY_PAGE_REQUESTS',
  'TOO_MANY_ICE_REQUESTS',
  'SLOW_CONSUMER',
  'REASSEMBLY_LIMIT_EXCEEDED',
  'LOBBY_FULL',
]);
/** One mapper of the edge's own answers: its filter, and the code in its body. */
const EDGE_ANSWER = /- filter:\n(.*?)\bcode: ([A-Z_]+)\n/gs;
/** Close codes of RFC 6455 and its registry that a server may send; all others are in the private range. */
const REGISTERED_CLOSES = new Set([1002, 1007, 1008, 1009, 1011, 1012]);

describe('[ERR-1] codes', () => {
  it('a close code stands for one code, except where that is documented', () => {
    const byClose = new Map<number, Code[]>();
    for (const code of codeNames()) {
      const { close } = CODES[code];
      if (close !== null) byClose.set(close, [...(byClose.get(close) ?? []), code]);
    }
    for (const [close, codes] of byClose) {
      assert.deepEqual(codes, SHARED_CLOSES[close] ?? codes.slice(0, 1), `close code ${close}`);
    }
  });

  it('a code of signaling and of the stream relay means the same in both tables', () => {
    const relay: Readonly<Record<string, RelayCodeEntry>> = RELAY_CODES;
    for (const code of codeNames()) {
      const { http, close, retry } = CODES[code];
      const other = relay[code];
      if (other === undefined) continue;
      assert.deepEqual(
        { http: http ?? other.http, close: close ?? other.close, retry },
        { http: other.http, close: other.close, retry: other.retry },
        code,
      );
    }
  });

  it('a client reconnects by itself only after a code that closes its socket', () => {
    for (const code of codeNames()) assert.ok(!reconnects(code) || CODES[code].close !== null, code);
  });

  it('every close code is of the private range or one a server may send', () => {
    for (const code of codeNames()) {
      const { close } = CODES[code];
      assert.ok(
        close === null || (close >= 4000 && close <= 4999) || REGISTERED_CLOSES.has(close),
        `${code} closes with ${close}`,
      );
    }
  });

  it('every HTTP status exists and is one of an error', () => {
    for (const code of codeNames()) {
      const { http } = CODES[code];
      assert.ok(http === null || (http >= 400 && STATUS_CODES[http] !== undefined), `${code} has ${http}`);
    }
  });

  it('a request that is refused with 429 or 503 may be retried', () => {
    for (const code of codeNames()) {
      const { http, retry } = CODES[code];
      if (http === 429 || http === 503) assert.ok(retry, code);
    }
  });

  it('names are stable identifiers and meanings are sentences', () => {
    for (const code of codeNames()) {
      assert.match(code, /^[A-Z]+(_[A-Z]+)*$/);
      assert.match(MEANINGS[code], /^[A-Z].*\.$/);
    }
  });

  it('a close code is read back as a code that has it', () => {
    for (const code of codeNames()) {
      const { close } = CODES[code];
      if (close === null) continue;
      const read = codeOfClose(close);
      assert.ok(read === code || (SHARED_CLOSES[close] ?? []).includes(code), `${close} is read as ${read}`);
    }
    for (const close of [1000, 1001, 1005, 1006]) assert.equal(codeOfClose(close), undefined);
  });
});

test('[ERR-1] [ERR-2] the edge answers codes of the table, with their status', () => {
  const edge = readFileSync(new URL('../../../charts/parley/files/envoy.yaml', import.meta.url), 'utf8');
  const answered = new Map<string, number>();
  for (const [, filter = '', code = ''] of edge.matchAll(EDGE_ANSWER))
    answered.set(code, Number(/value: \{ default_value: (\d+)/.exec(filter)?.[1]));
  assert.ok(answered.has('HEADERS_TOO_LARGE'), [...answered.keys()].join(' '));
  for (const [code, status] of answered) assert.equal(CODES[code as Code]?.http, status, code);
  assert.equal(CODES.HEADERS_TOO_LARGE.retry, false, 'a retry sends the same head');
});

test('[ERR-4] a program reads the code, also of a newer service, and ignores the message', () => {
  for (const message of ['', 'The room is full.', 'La salle est pleine.', 'NOT_FOUND']) {
    const answer = decode(ErrorAnswer, { code: 'ROOM_FULL', message });
    assert.equal(answer.ok && knownCode(answer.message.code), 'ROOM_FULL');
    const newer = decode(ErrorAnswer, { code: 'NOT_KNOWN_YET', message });
    assert.equal(newer.ok && knownCode(newer.message.code), 'INTERNAL');
  }
  assert.ok(!decode(ErrorAnswer, { message: 'The room is full.' }).ok);
});

describe('[ERR-1] routes', () => {
  const routes = Object.entries(ROUTES) as [string, Route][];

  it('every code of a route has an HTTP status and is named once', () => {
    for (const [name, route] of routes) {
      assert.equal(new Set(route.codes).size, route.codes.length, `${name} names a code twice`);
      for (const code of route.codes) assert.notEqual(CODES[code].http, null, `${name}: ${code}`);
    }
  });

  it('differ in method or path', () => {
    const keys = routes.map(([, route]) => `${route.method} ${route.path}`);
    assert.equal(new Set(keys).size, keys.length);
  });

  it('with a room name ROOM_INVALID, with a body BAD_REQUEST, for owners OWNER_KEY_INVALID', () => {
    for (const [name, { path, codes, body, owner }] of routes) {
      if (path.includes(':room')) assert.ok(codes.includes('ROOM_INVALID'), name);
      if (body !== null) assert.ok(codes.includes('BAD_REQUEST'), name);
      assert.equal(codes.includes('OWNER_KEY_INVALID'), owner, name);
    }
  });

  it('with a room name the codes of a missing and of an unreadable room, with a body BODY_TOO_LARGE', () => {
    for (const [name, { path, codes, body }] of routes) {
      if (path.includes(':room')) {
        for (const code of ['ROOM_NOT_FOUND', 'ROOM_HOME_UNREACHABLE', 'STORE_UNAVAILABLE'] as const)
          assert.ok(codes.includes(code), `${name}: ${code}`);
      }
      if (body !== null) assert.ok(codes.includes('BODY_TOO_LARGE'), name);
    }
  });

  it('[MOD-10] about a participant or a ban name PARTICIPANT_NOT_FOUND or BAN_NOT_FOUND, and no others do', () => {
    for (const [name, { path, codes }] of routes) {
      assert.equal(codes.includes('PARTICIPANT_NOT_FOUND'), path.includes(':participant'), name);
      assert.equal(codes.includes('BAN_NOT_FOUND'), path.includes(':ban'), name);
    }
  });

  it('every code with an HTTP status is named by a route, or is in the list of codes without one', () => {
    const named = new Set<Code>(routes.flatMap(([, { codes }]) => codes));
    const unnamed = codeNames().filter((code) => CODES[code].http !== null && !named.has(code));
    assert.deepEqual(
      unnamed.filter((code) => !CODES_WITHOUT_ROUTE.has(code)),
      [],
    );
  });
});

describe('[LIM-1] limits', () => {
  it('every default is a whole number within its range', () => {
    for (const name of limitNames()) {
      const { value, min, max } = LIMITS[name];
      for (const number of [value, min, max]) assert.ok(Number.isSafeInteger(number) && number >= 0, name);
      assert.ok(min <= value && value <= max, `${name}: ${min} <= ${value} <= ${max}`);
    }
  });

  it('every limit has its own key, which is a plain name of an environment variable', () => {
    const keys = limitNames().map(limitKey);
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) assert.match(key, /^PARLEY_LIMIT(_[A-Z]+)+$/);
    assert.equal(limitKey('room.participants'), 'PARLEY_LIMIT_ROOM_PARTICIPANTS');
    assert.equal(limitKey('socket.messageBurst'), 'PARLEY_LIMIT_SOCKET_MESSAGE_BURST');
  });

  it('the code of every limit is in the table of codes', () => {
    for (const name of limitNames()) {
      const { code } = LIMITS[name];
      assert.ok(code === null || codeNames().includes(code), `${name}: ${code}`);
    }
  });

  it('a limit of an address has a code that a caller may retry', () => {
    // Over this one a join is served and not traced, so that no caller learns of it.
    const refusesNothing = 'address.traces';
    assert.equal(LIMITS[refusesNothing].code, null);
    const refusing = limitNames().filter((limit) => limit.startsWith('address.') && limit !== refusesNothing);
    for (const name of refusing) {
      const { code } = LIMITS[name];
      assert.ok(code !== null && CODES[code].retry, `${name}: ${code}`);
      assert.ok(CODES[code].http === 429 || SOCKET_CODES.has(code), `${name}: ${code}`);
    }
  });

  it('every limit has a unit and a rationale', () => {
    for (const name of limitNames()) {
      assert.notEqual(LIMITS[name].unit, '', name);
      assert.ok(LIMITS[name].rationale.length > 10, name);
    }
  });

  it('an operator changes one and leaves the others', () => {
    const limits = defaultLimits({ 'mesh.participants': 6 });
    assert.equal(limits['mesh.participants'], 6);
    assert.equal(limits['room.participants'], LIMITS['room.participants'].value);
    assert.deepEqual(Object.keys(limits), [...limitNames()]);
  });

  it('fit each other', () => {
    const { value: message } = LIMITS['message.bytes'];
    assert.ok(LIMITS['control.bytes'].value <= message);
    // A message of the full size passes a fresh rate limiter.
    assert.ok(message + 1 + 17 + 1 + MAX_DIRECTED_ID_BYTES + 1 <= LIMITS['socket.byteBurst'].value);
    assert.ok(
      LIMITS['chat.chars'].value * 4 < LIMITS['control.bytes'].value,
      'a longest chat line fits a message',
    );
    assert.ok(LIMITS['directed.timeout'].value < 2000, 'a sender is informed within 2 s');
  });
});
