/** Malformed requests, and requests that the framework refuses before a handler: every answer has a code of the table, and its status. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CODES, passesByItself, type Code } from '@parley/protocol/codes';
import { decode } from '@parley/protocol/decode';
import { ErrorAnswer } from '@parley/protocol/http';
import type { RunningPod } from '../../src/server/start.ts';
import { startTestPod } from '../support/pod.ts';
import { RawClient } from '../support/raw.ts';

let pod: RunningPod;
before(async () => {
  pod = await startTestPod();
});
after(() => pod.close());

const ROOM = '/v1/rooms/k7m3-q9xd-w2hn-5tzp';
const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: pod', 'Connection: close', ...headers, '', body].join('\r\n');
const json = (line: string, body: string): string =>
  request(line, ['Content-Type: application/json', `Content-Length: ${body.length}`], body);
const upgrade = (path: string, version = '13', key = 'AAAAAAAAAAAAAAAAAAAAAA=='): string =>
  [
    `GET ${path} HTTP/1.1`,
    'Host: pod',
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Version: ${version}`,
    `Sec-WebSocket-Key: ${key}`,
    '',
    '',
  ].join('\r\n');

const MALFORMED: readonly (readonly [title: string, bytes: string | Uint8Array, code: Code])[] = [
  ['a segment that is too long', request(`GET /v1/rooms/${'x'.repeat(200)}`), 'BAD_REQUEST'],
  ['a segment that is too long, of a page', request(`GET /v1/live/${'x'.repeat(5000)}`), 'NOT_FOUND'],
  ['a head over 16 KiB', request(`GET /v1/${'x'.repeat(20_000)}`), 'HEADERS_TOO_LARGE'],
  ['a header over 16 KiB', request(`GET ${ROOM}`, [`X-More: ${'x'.repeat(20_000)}`]), 'HEADERS_TOO_LARGE'],
  ['percent-encoding that is broken', request('GET /v1/rooms/%zz'), 'BAD_REQUEST'],
  ['percent-encoding that is no UTF-8', request('GET /v1/rooms/%ff%fe'), 'BAD_REQUEST'],
  ['percent-encoding at the end', request('POST /v1/rooms/abc%/join'), 'BAD_REQUEST'],
  ['a method that no address takes', request(`PROPFIND ${ROOM}`), 'NOT_FOUND'],
  ['a method that the address does not take', request(`PUT ${ROOM}`), 'NOT_FOUND'],
  ['a method that does not exist', request(`DANCE ${ROOM}`), 'BAD_REQUEST'],
  ['TRACE', request(`TRACE ${ROOM}`), 'NOT_FOUND'],
  ['an address without a slash', request('GET v1'), 'BAD_REQUEST'],
  ['options of everything', request('OPTIONS *'), 'NOT_FOUND'],
  ['an address outside /v1', request('GET /nothing'), 'NOT_FOUND'],
  ['no host', `GET ${ROOM} HTTP/1.1\r\nConnection: close\r\n\r\n`, 'BAD_REQUEST'],
  ['an unknown expectation', request(`GET ${ROOM}`, ['Expect: applause']), 'BAD_REQUEST'],
  [
    'a type of body that is not JSON',
    request(`POST ${ROOM}/join`, ['Content-Type: text/xml', 'Content-Length: 4'], '<a/>'),
    'BAD_REQUEST',
  ],
  [
    'a type of body that is no type',
    request(`POST ${ROOM}/join`, ['Content-Type: ;;', 'Content-Length: 2'], '{}'),
    'BAD_REQUEST',
  ],
  ['JSON that is cut short', json(`POST ${ROOM}/join`, '{"name":'), 'BAD_REQUEST'],
  ['JSON with a prototype', json(`POST ${ROOM}/join`, '{"__proto__":{}}'), 'BAD_REQUEST'],
  ['an empty body that is called JSON', json(`POST ${ROOM}/join`, ''), 'BAD_REQUEST'],
  ['a body over the limit', json(`POST ${ROOM}/join`, `"${'x'.repeat(5000)}"`), 'BODY_TOO_LARGE'],
  [
    'two lengths',
    request(`POST ${ROOM}/join`, ['Content-Length: 2', 'Content-Length: 3'], '{} '),
    'BAD_REQUEST',
  ],
  [
    'a length and chunks',
    request(`POST ${ROOM}/join`, ['Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    'BAD_REQUEST',
  ],
  [
    'a chunk that is none',
    request(
      `POST ${ROOM}/join`,
      ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
      'zz\r\n{}\r\n0\r\n\r\n',
    ),
    'BAD_REQUEST',
  ],
  ['a version that does not exist', 'GET / HTTP/9.9\r\n\r\n', 'BAD_REQUEST'],
  ['HTTP/2 without an upgrade', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'BAD_REQUEST'],
  ['TLS', Uint8Array.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01]), 'BAD_REQUEST'],
  ['an upgrade at another address', upgrade('/v1/nothing'), 'NOT_FOUND'],
  ['an upgrade with a version that does not exist', upgrade(`${ROOM}/socket`, '7'), 'BAD_REQUEST'],
  ['an upgrade with a key that is none', upgrade(`${ROOM}/socket`, '13', 'short'), 'BAD_REQUEST'],
  ['an upgrade of a room with broken percent-encoding', upgrade('/v1/rooms/%zz/socket'), 'NOT_FOUND'],
  ['half a request', `POST ${ROOM}/join HTTP/1.1\r\nHost: pod\r\nContent-Le`, 'REQUEST_TIMEOUT'],
];

describe('[ERR-2] malformed requests', { concurrency: 8 }, () => {
  for (const [title, bytes, code] of MALFORMED) {
    test(`[ERR-2] ${title}: ${code}`, async () => {
      const raw = new RawClient(pod.url);
      raw.write(bytes);
      await raw.ended(9000);
      raw.destroy();
      const [head = '', body = ''] = raw.text.split('\r\n\r\n');
      assert.match(head, new RegExp(`^HTTP/1.1 ${CODES[code].http} `), raw.text);
      assert.equal(/^retry-after: \d+$/im.test(head), passesByItself(code));
      const answer = decode(ErrorAnswer, JSON.parse(body));
      assert.ok(answer.ok, body);
      assert.equal(answer.message.code, code);
    });
  }
});
