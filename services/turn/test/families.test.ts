import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decode } from '@parley/protocol/decode';
import { TurnNode } from '@parley/protocol/turn';
import { nodeAddresses } from '../src/agent/address.ts';
import { describeNode } from '../src/agent/announcement.ts';
import { readSettings } from '../src/agent/settings.ts';
import { base, secret, startAgent, textOf } from './agent.ts';
import { exampleSettings, startCoturn } from './coturn.ts';
import { restLogin, TurnClient } from './turn-client.ts';

// Nodes with addresses of both families, and of IPv6 alone.

const both = { ...base, PARLEY_TURN_NODE_IP: '10.0.0.7,2001:db8::7' };
const forbidden = 403;
const peerFamilyMismatch = 443;
const login = () => restLogin(secret, 'ada', Math.floor(Date.now() / 1000) + 600);

const values = (addresses: string) =>
  nodeAddresses(
    readSettings({
      ...both,
      PARLEY_TURN_PUBLIC_ADDRESS: 'values',
      PARLEY_TURN_ADDRESSES: JSON.stringify({ 'node-a': addresses }),
    }),
  );

describe('[TURN-14] the addresses of a node', () => {
  test('[TURN-14] are one of each family at most', () => {
    assert.deepEqual(readSettings(both).nodeIps, ['10.0.0.7', '2001:db8::7']);
    for (const wrong of ['10.0.0.7,10.0.0.8', '2001:db8::7,2001:db8::8', '10.0.0.7,', 'node', '[::1]'])
      assert.throws(() => readSettings({ ...base, PARLEY_TURN_NODE_IP: wrong }), {
        message: /PARLEY_TURN_NODE_IP must be/,
      });
  });

  test('[TURN-14] have a public one of the same family each; the others are not used', async () => {
    const four = { own: '10.0.0.7', public: '203.0.113.7' };
    const six = { own: '2001:db8::7', public: '2001:db8::9' };
    assert.deepEqual(await values('2001:db8::9, 203.0.113.7'), [four, six]);
    assert.deepEqual(await values('203.0.113.7'), [four]);
    await assert.rejects(values('203.0.113.7,203.0.113.8'), {
      message: /two public addresses of one family/,
    });
    await assert.rejects(values('node-a.example'), { message: /which is no address/ });
    const ofIpv4 = {
      ...base,
      PARLEY_TURN_PUBLIC_ADDRESS: 'values',
      PARLEY_TURN_ADDRESSES: '{"node-a":"::7"}',
    };
    await assert.rejects(nodeAddresses(readSettings(ofIpv4)), {
      message: /of a family that the node itself lacks/,
    });
  });

  test('[TURN-14] are in the lease of a node, UDP first', () => {
    const settings = readSettings({ ...both, PARLEY_TURN_TLS_AT: 'turn.example.com:443' });
    const lease = describeNode(settings, ['203.0.113.7', '2001:db8::7'], { allocations: () => 0 })();
    assert.deepEqual(lease.urls, [
      'turn:203.0.113.7:3478?transport=udp',
      'turn:[2001:db8::7]:3478?transport=udp',
      'turn:203.0.113.7:3478?transport=tcp',
      'turn:[2001:db8::7]:3478?transport=tcp',
      'turns:turn.example.com:443?transport=tcp',
    ]);
    assert.equal(decode(TurnNode, lease).ok, true);
  });
});

test('[TURN-14] a node of IPv6 alone relays IPv6 for a client that asks for no family', async (t) => {
  const at = { ip: '::1', port: 28_800 };
  const node = { listeningIps: [at.ip], relayIps: [at.ip], turnNodeIps: [at.ip] };
  const stop = await startCoturn({ ...exampleSettings, ...node, secret, port: at.port, tlsPort: 28_801 });
  const client = await TurnClient.open(at, login());
  // What is registered later runs later: the allocation is given back while coturn still runs.
  t.after(() => client.close());
  t.after(stop);
  const { outcome, relayed } = await client.allocate();
  assert.deepEqual([outcome, relayed?.ip], ['ok', at.ip]);
  assert.equal(await client.permit('2606:4700::1111'), 'ok');
  assert.equal(await client.permit('fe80::1'), forbidden);
});

test('[TURN-14] a node of both families serves clients over each, relays IPv4 unless asked, and refuses embedded IPv4 peers', async (t) => {
  const port = 28_810;
  const ips = ['127.76.0.5', '::1'];
  const node = { listeningIps: ips, relayIps: ips, turnNodeIps: ips };
  const stop = await startCoturn({ ...exampleSettings, ...node, secret, port, tlsPort: 28_811 });
  for (const ip of ips) {
    const client = await TurnClient.open({ ip, port }, login());
    t.after(() => client.close());
    const { outcome, relayed } = await client.allocate();
    assert.deepEqual([outcome, relayed?.ip], ['ok', '127.76.0.5'], ip);
    // A peer of the other family, whichever address it stands for.
    for (const peer of ['2606:4700::1111', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1'])
      assert.ok([forbidden, peerFamilyMismatch].includes(Number(await client.permit(peer))), peer);
  }
  const six = await TurnClient.open({ ip: '::1', port }, login());
  t.after(() => six.close());
  t.after(stop);
  assert.equal((await six.allocate(6)).relayed?.ip, '::1');
});

test('[TURN-14] the agent of a node of both families is ready when coturn answers at each', async (t) => {
  const { port, url } = await startAgent(t, '127.76.0.20', { PARLEY_TURN_NODE_IP: '127.76.0.20,::1' });
  assert.match(await textOf(`${url}/metrics`), /^parley_turn_allocations 0$/m);
  assert.equal((await fetch(url.replace('127.76.0.20', '[::1]').concat('/readyz'))).status, 200);
  const client = await TurnClient.open({ ip: '::1', port }, login());
  assert.equal((await client.allocate()).outcome, 'ok');
  assert.match(await textOf(`${url}/metrics`), /^parley_turn_allocations 1$/m);
  await client.close();
});

test('[TURN-14] a node asks a STUN server for its address of each family', async (t) => {
  const { ip, port } = await startAgent(t, '127.76.0.21', { PARLEY_TURN_NODE_IP: '127.76.0.21,::1' });
  const asks = { ...base, PARLEY_TURN_NODE_IP: '127.76.0.22,::1', PARLEY_TURN_PUBLIC_ADDRESS: 'stun' };
  const ask = (server: string) => nodeAddresses(readSettings({ ...asks, PARLEY_TURN_STUN_SERVER: server }));
  assert.deepEqual(await ask(`${ip}:${port}`), [{ own: '127.76.0.22', public: '127.76.0.22' }]);
  assert.deepEqual(await ask(`[::1]:${port}`), [{ own: '::1', public: '::1' }]);
});
