import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deniedPeers, rangeOf } from '../src/denied-peers.ts';
import { renderTurnserver } from '../src/render.ts';
import { exampleSettings } from './coturn.ts';

test('every placeholder is filled', () => {
  assert.doesNotMatch(renderTurnserver(exampleSettings), /\$\{/);
});

test('one line for each address, relay and denied range', () => {
  const options = optionsOf(
    renderTurnserver({
      ...exampleSettings,
      listeningIps: ['203.0.113.4', '2001:db8::4'],
      relayIps: ['203.0.113.4'],
      externalIps: ['198.51.100.4/203.0.113.4'],
      turnNodeIps: ['198.51.100.4', '198.51.100.5'],
    }),
  );
  assert.deepEqual(options.get('listening-ip'), ['203.0.113.4', '2001:db8::4']);
  assert.deepEqual(options.get('relay-ip'), ['203.0.113.4']);
  assert.deepEqual(options.get('external-ip'), ['198.51.100.4/203.0.113.4']);
  assert.deepEqual(options.get('allowed-peer-ip'), ['198.51.100.4', '198.51.100.5']);
  assert.deepEqual(
    options.get('denied-peer-ip'),
    deniedPeers.map(({ range }) => range),
  );
});

test('[TURN-14] a node without an IPv4 address to relay from relays IPv6 by default', () => {
  for (const [relayIps, family] of [
    [['203.0.113.4'], undefined],
    [['203.0.113.4', '2001:db8::4'], undefined],
    [['2001:db8::4'], ['ipv6']],
  ] as const) {
    const options = optionsOf(renderTurnserver({ ...exampleSettings, relayIps }));
    assert.deepEqual(options.get('allocation-default-address-family'), family);
  }
});

test('[TURN-14] blocks of the operator are refused too, as ranges', () => {
  for (const [block, range] of [
    ['203.0.113.0/24', '203.0.113.0-203.0.113.255'],
    ['203.0.113.77/25', '203.0.113.0-203.0.113.127'],
    ['203.0.113.7/32', '203.0.113.7-203.0.113.7'],
    ['2001:db8:1::/48', '2001:db8:1::-2001:db8:1:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::7/128', '2001:db8::7-2001:db8::7'],
    ['::/96', '::1-::ffff:ffff'],
  ] as const) {
    assert.equal(rangeOf(block), range);
    const denied = optionsOf(renderTurnserver({ ...exampleSettings, deniedPeers: [block] }));
    assert.equal(denied.get('denied-peer-ip')?.at(-1), range);
  }
  for (const bad of [
    '203.0.113.0',
    '203.0.113.0/33',
    '2001:db8::/129',
    '::/0',
    'pods/8',
    '10.0.0.0/8/8',
    '10.0.0.0/ 8',
  ])
    assert.throws(() => rangeOf(bad), { message: `not a block of addresses: ${bad}` });
});

test('loopback peers are allowed only where asked for', () => {
  assert.ok(
    !optionsOf(renderTurnserver({ ...exampleSettings, allowLoopbackPeers: false })).has(
      'allow-loopback-peers',
    ),
  );
  assert.ok(
    optionsOf(renderTurnserver({ ...exampleSettings, allowLoopbackPeers: true })).has('allow-loopback-peers'),
  );
});

test('a sixteenth of the relay ports stays free', () => {
  for (const [maxPort, total] of [
    [50_099, '94'],
    [50_000, '1'],
  ] as const) {
    const options = optionsOf(renderTurnserver({ ...exampleSettings, minPort: 50_000, maxPort }));
    assert.deepEqual(options.get('total-quota'), [total]);
  }
});

for (const [networkAllocations, meshParticipants, quota] of [
  [100, 4, '100'],
  [8, 4, '96'],
  [8, 1, '96'],
  [100, 12, '132'],
  [500, 12, '500'],
] as const) {
  test(`[TURN-9] at ${networkAllocations} for a network and a mesh of ${meshParticipants} a network gets ${quota} allocations`, () => {
    const options = optionsOf(renderTurnserver({ ...exampleSettings, networkAllocations, meshParticipants }));
    assert.deepEqual(options.get('user-quota'), [quota]);
  });
}

test('what would break out of its line or resolve by name is refused', () => {
  assert.throws(() => renderTurnserver({ ...exampleSettings, secret: 'a\nno-auth' }), { message: /secret/ });
  assert.throws(() => renderTurnserver({ ...exampleSettings, relayIps: ['turn.example'] }), {
    message: /turn.example/,
  });
  assert.throws(() => renderTurnserver({ ...exampleSettings, minPort: 2, maxPort: 1 }), { message: /range/ });
});

function optionsOf(config: string): Map<string, string[]> {
  const options = new Map<string, string[]>();
  for (const line of config.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [option = '', value = ''] = line.split('=');
    options.set(option, [...(options.get(option) ?? []), value]);
  }
  return options;
}
