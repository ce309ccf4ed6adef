import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { isOriginAllowed } from '../../src/server/visitor.ts';

const CONFIG = {
  allowedOrigins: ['https://partner.example', 'https://partner.example:8443'],
  publicUrl: 'https://talk.example',
  trustedProxies: 1,
  host: '0.0.0.0',
  port: 8101,
} as const;

function allowed(
  origin: string | undefined,
  headers: Record<string, string>,
  config: Parameters<typeof isOriginAllowed>[1] = CONFIG,
): boolean {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers, origin === undefined ? {} : { origin });
  return isOriginAllowed(request, config);
}

const AT_EDGE = { host: 'talk.example', 'x-forwarded-proto': 'https' };
const AT_LOCAL = { host: '127.0.0.1:8080', 'x-forwarded-proto': 'http' };

const TAKEN: readonly (readonly [origin: string | undefined, headers: Record<string, string>])[] = [
  [undefined, AT_EDGE],
  ['https://talk.example', AT_EDGE],
  // Reached at another address than the public one: the local stack over http and over https.
  ['http://127.0.0.1:8080', AT_LOCAL],
  ['https://localhost:8443', { host: 'localhost:8443', 'x-forwarded-proto': 'https' }],
  ['http://[::1]:8080', { host: '[::1]:8080', 'x-forwarded-proto': 'http' }],
  // A load balancer ends TLS and the edge does not know.
  ['https://talk.example', { host: 'talk.example', 'x-forwarded-proto': 'http' }],
  ['https://partner.example', AT_EDGE],
  ['https://partner.example:8443', AT_EDGE],
];

const REFUSED: readonly (readonly [origin: string, headers: Record<string, string>])[] = [
  ['null', AT_EDGE],
  ['', AT_EDGE],
  ['http://127.0.0.1', AT_LOCAL],
  ['https://127.0.0.1:8080', AT_LOCAL],
  ['ws://127.0.0.1:8080', AT_LOCAL],
  ['file://127.0.0.1:8080', AT_LOCAL],
  ['http://talk.example', AT_EDGE],
  ['https://talk.example:444', AT_EDGE],
  ['https://talk.example:443', AT_EDGE],
  ['https://talk.example/', AT_EDGE],
  ['https://talk.example/r/room', AT_EDGE],
  ['https://talk.example?x', AT_EDGE],
  ['https://talk.example#x', AT_EDGE],
  ['https://evil@talk.example', AT_EDGE],
  ['https://talk.example@evil.example', AT_EDGE],
  ['https://talk.example.evil.example', AT_EDGE],
  ['https://eviltalk.example', AT_EDGE],
  ['https://talk.example.', AT_EDGE],
  ['https://TALK.example', AT_EDGE],
  ['https:\\\\talk.example', AT_EDGE],
  ['//talk.example', AT_EDGE],
  ['talk.example', AT_EDGE],
  ['https://talk.example, https://evil.example', AT_EDGE],
  ['https://evil.example, https://talk.example', AT_EDGE],
  ['https://talk.example ', AT_EDGE],
  ['https://partner.example:444', AT_EDGE],
  ['http://partner.example', AT_EDGE],
  ['https://partner.example/', AT_EDGE],
  ['*', AT_EDGE],
];

describe('[LIM-16] origins', () => {
  for (const [origin, headers] of TAKEN)
    test(`[LIM-16] ${origin} is taken at ${headers['x-forwarded-proto']}://${headers['host']}`, () => {
      assert.equal(allowed(origin, headers), true);
    });

  for (const [origin, headers] of REFUSED)
    test(`[LIM-16] ${origin} is refused at ${headers['x-forwarded-proto']}://${headers['host']}`, () => {
      assert.equal(allowed(origin, headers), false);
    });

  test('[LIM-16] null is refused though it was allowed, and x-forwarded-proto counts behind a trusted proxy only', () => {
    assert.equal(allowed('null', AT_EDGE, { ...CONFIG, allowedOrigins: ['null'] }), false);
    const bare = { ...CONFIG, publicUrl: undefined, trustedProxies: 0 };
    assert.equal(allowed('https://talk.example', AT_EDGE, bare), false);
    assert.equal(allowed('http://talk.example', AT_EDGE, bare), true);
  });
});
