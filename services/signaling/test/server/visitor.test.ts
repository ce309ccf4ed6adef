import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { addressOf, isOriginAllowed } from '../../src/server/visitor.ts';

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

describe('[LIM-21] the address of a client behind a proxy', () => {
  function seen(forwarded: string | string[] | undefined, trustedProxies = 1): string {
    const socket = new Socket();
    Object.defineProperty(socket, 'remoteAddress', { value: '::ffff:10.0.0.9' });
    const request = new IncomingMessage(socket);
    // The list is what Node makes of a header that Node does not join.
    Object.assign(request.headers, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded });
    return addressOf(request, trustedProxies);
  }

  for (const [forwarded, network] of [
    ['198.51.100.7', '198.51.100.7'],
    ['6.6.6.6, 198.51.100.7', '198.51.100.7'],
    ['6.6.6.6,198.51.100.7:40123', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['[::ffff:198.51.100.7]:40123', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:40123', '2001:db8:1:2::/64'],
    ['fe80::9%eth0', 'fe80:0:0:0::/64'],
  ] as const)
    test(`[LIM-21] of ${forwarded} is ${network}`, () => assert.equal(seen(forwarded), network));

  for (const none of [
    '',
    ' ',
    'unknown',
    '_hidden',
    '198.51.100',
    '2001:db8:::1',
    '[2001:db8::1',
    '2001:db8::1]:1',
  ])
    test(`[LIM-21] "${none}" is no address: it counts for the proxy`, () =>
      assert.equal(seen(none), '10.0.0.9'));

  test('[LIM-21] it is counted from the right, and without proxies it is that of the connection', () => {
    assert.equal(seen('1.1.1.1, 2001:db8::1, 10.0.0.1', 2), '2001:db8:0:0::/64');
    assert.equal(seen('1.1.1.1', 2), '10.0.0.9');
    assert.equal(seen(undefined), '10.0.0.9');
    assert.equal(seen('1.1.1.1', 0), '10.0.0.9');
  });
});

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
