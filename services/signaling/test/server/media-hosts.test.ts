/** Which media relays a pod offers, by the host in their lease. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/server/config.ts';
import { MediaAccess, type MediaAccessParts } from '../../src/server/media-access.ts';
import { mediaHosts } from '../../src/server/media-hosts.ts';
import { defaultLimits } from '@parley/protocol/limits';
import type { MediaRelay } from '@parley/protocol/media';
import type { MediaListener } from '../../src/core/ports.ts';
import { writeKeys } from '../support/pod.ts';

const allows = (entries: readonly string[], host: string): boolean =>
  mediaHosts(entries).allows(`https://${host}/`);

test('[MEDIA-17] without a list, a host that no relay of a region has is refused', () => {
  for (const host of ['relay.example:4443', '10.0.0.7:4443', '[2001:db8::7]:4443', '203.0.113.7'])
    assert.ok(allows([], host), host);
  for (const host of [
    'localhost:4443',
    'LOCALHOST.',
    'a.localhost',
    '127.8.8.8:1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '[::1]:1',
    '[::ffff:127.0.0.1]:1',
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '100.100.100.200',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '0.0.0.0',
    '[::]',
    '239.1.1.1',
    '[ff02::1]',
    '255.255.255.255',
  ])
    assert.ok(!allows([], host), host);
});

test('[MEDIA-17] a list allows what it names and nothing else', () => {
  const list = ['Relay.example', '*.media.example', '203.0.113.0/24', '2001:db8::/32', '127.0.0.1'];
  for (const [host, allowed] of [
    ['relay.EXAMPLE:4443', true],
    ['relay.example.', true],
    ['x.relay.example', false],
    ['a.media.example', true],
    ['a.b.media.example', true],
    ['media.example', false],
    ['evilmedia.example', false],
    ['203.0.113.255:1', true],
    ['203.0.114.0', false],
    ['[::ffff:203.0.113.1]', true],
    ['[2001:db8:ffff::1]', true],
    ['[2001:db9::]', false],
    ['127.0.0.1', true],
    ['127.0.0.2', false],
  ] as const)
    assert.equal(allows(list, host), allowed, host);
});

test('[MEDIA-17] what is no host is refused by name, before the pod starts', (t) => {
  for (const bad of [
    '*',
    '*media.example',
    '*.',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0.0/',
    'a/8',
    'https://a',
    'a:1',
  ])
    assert.throws(
      () => mediaHosts(['relay.example', bad]),
      (error: Error) => error.message.startsWith(`${bad} is no name`),
    );
  const keys = writeKeys();
  t.after(() => keys.remove());
  const env = { PARLEY_POD: 'a', PARLEY_NATS_URL: 'nats://n', PARLEY_KEYS_FILE: keys.file };
  assert.throws(() => readConfig({ ...env, PARLEY_MEDIA_HOSTS: 'relay.example, a:1' }), {
    message: /PARLEY_MEDIA_HOSTS: Error: a:1 is no name/,
  });
  const { mediaHosts: hosts } = readConfig({ ...env, PARLEY_MEDIA_HOSTS: 'relay.example, 127.0.0.1' });
  assert.ok(hosts.allows('https://127.0.0.1:1/') && !hosts.allows('https://other.example/'));
});

test('[MEDIA-17] a lease with a host that is not allowed is counted, not offered, and logged at a bounded rate', () => {
  let now = 0;
  let listener: MediaListener | undefined;
  const lines: unknown[] = [];
  const metrics = { refusedRelays: 0 };
  const access = new MediaAccess({
    limits: defaultLimits(),
    tokens: {} as MediaAccessParts['tokens'],
    openMedia: (given) => {
      listener = given;
      return { revoke: () => {}, mute: () => {} };
    },
    hosts: mediaHosts(['relay.example']),
    otherRegions: [],
    metrics,
    log: { warn: (...line: unknown[]) => void lines.push(line) },
    now: () => now,
    leaseNow: () => now,
  });
  const sendMessage = (url: string): void => {
    const relay: MediaRelay = {
      relay: 'relay-1',
      epoch: 1,
      role: 'origin',
      url,
      certificateHashes: [],
      sessions: 0,
      capacity: 1,
    };
    listener?.onRelay(relay);
  };
  for (let at = 0; at < 1000; at += 1) sendMessage('https://evil.example/');
  assert.deepEqual([access.relays, metrics.refusedRelays, lines.length], [0, 1000, 1]);
  now = 10_000;
  sendMessage('https://evil.example/');
  assert.equal(lines.length, 2);
  sendMessage('https://relay.example:4443/');
  assert.equal(access.relays, 1);
});
