import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicy, Objects, Pod } from '../src/policies/objects.ts';
import { rulesFor, type Family } from '../src/policies/rules.ts';

const web: Pod = pod('web', '10.0.0.1', 'n1');
const store: Pod = pod('store', '10.0.0.2', 'n2');
const other: Pod = {
  ...pod('web', '10.0.0.3', 'n2'),
  metadata: { name: 'x', namespace: 'b', labels: { app: 'web' } },
};

test('a pod that no policy selects is in no chain', () => {
  assert.deepEqual(chainsOf('n1', [policy('store', {})]), ['PARLEY-POLICIES']);
});

test('a policy without rules lets nothing in, and what goes out is free', () => {
  const rules = linesOf('n2', [policy('store', {})]);
  assert.deepEqual(about('IN-10.0.0.2', rules), ['--jump DROP']);
  assert.deepEqual(about('OUT-10.0.0.2', rules), []);
});

test('peers are pods of the policy’s own namespace, unless it names others', () => {
  const here = { from: [{ podSelector: { matchLabels: { app: 'web' } } }] };
  assert.deepEqual(about('IN-10.0.0.2', linesOf('n2', [policy('store', { ingress: [here] })])), [
    '--source 10.0.0.1 --jump RETURN',
    '--jump DROP',
  ]);
  const there = { from: [{ namespaceSelector: { matchLabels: { team: 'b' } } }] };
  assert.deepEqual(about('IN-10.0.0.2', linesOf('n2', [policy('store', { ingress: [there] })])), [
    '--source 10.0.0.3 --jump RETURN',
    '--jump DROP',
  ]);
});

test('every peer is allowed with every port, and ranges and names of ports are numbers', () => {
  const ports = [{ port: 'http' }, { port: 50, endPort: 60, protocol: 'UDP' as const }];
  const from = [{ ipBlock: { cidr: '192.0.2.0/24' } }, { podSelector: {} }];
  assert.deepEqual(about('IN-10.0.0.2', linesOf('n2', [policy('store', { ingress: [{ from, ports }] })])), [
    '--source 192.0.2.0/24 --protocol tcp --dport 80 --jump RETURN',
    '--source 192.0.2.0/24 --protocol udp --dport 50:60 --jump RETURN',
    '--source 10.0.0.1 --protocol tcp --dport 80 --jump RETURN',
    '--source 10.0.0.1 --protocol udp --dport 50:60 --jump RETURN',
    '--source 10.0.0.2 --protocol tcp --dport 80 --jump RETURN',
    '--source 10.0.0.2 --protocol udp --dport 50:60 --jump RETURN',
    '--jump DROP',
  ]);
});

test('what goes out is restricted by the type alone, and by rules without one', () => {
  const typed = linesOf('n1', [policy('web', { policyTypes: ['Egress'] })]);
  assert.deepEqual(about('OUT-10.0.0.1', typed), ['--jump DROP']);
  assert.deepEqual(about('IN-10.0.0.1', typed), []);
  const ruled = linesOf('n1', [policy('web', { egress: [{ ports: [{ port: 53, protocol: 'UDP' }] }] })]);
  assert.deepEqual(about('OUT-10.0.0.1', ruled), ['--protocol udp --dport 53 --jump RETURN', '--jump DROP']);
});

test('what two policies allow adds up', () => {
  const port = (number: number) => ({ ingress: [{ ports: [{ port: number }] }] });
  const rules = linesOf('n2', [policy('store', port(1)), policy('store', port(2))]);
  assert.deepEqual(about('IN-10.0.0.2', rules), [
    '--protocol tcp --dport 1 --jump RETURN',
    '--protocol tcp --dport 2 --jump RETURN',
    '--jump DROP',
  ]);
});

test('a pod on the network of its node is beyond policies', () => {
  const objects = {
    ...world([policy('store', {})]),
    pods: [{ ...store, spec: { ...store.spec, hostNetwork: true } }],
  };
  assert.doesNotMatch(rulesFor('n2', 'IPv4', objects), /DROP/);
});

test('a pod of both families is restricted in each by the peers and blocks of that one', () => {
  const both: Pod = { ...store, status: { podIPs: [{ ip: '10.0.0.2' }, { ip: 'fd00::2' }] } };
  const from = [
    { ipBlock: { cidr: '192.0.2.0/24' } },
    { ipBlock: { cidr: '2001:db8::/32' } },
    { podSelector: {} },
  ];
  const objects = { ...world([policy('store', { ingress: [{ from }] })]), pods: [web, both] };
  const rules = (family: Family): string[] => rulesFor('n2', family, objects).split('\n');
  assert.deepEqual(about('IN-10.0.0.2', rules('IPv4')), [
    '--source 192.0.2.0/24 --jump RETURN',
    '--source 10.0.0.1 --jump RETURN',
    '--source 10.0.0.2 --jump RETURN',
    '--jump DROP',
  ]);
  assert.deepEqual(about('IN-fd00::2', rules('IPv6')), [
    '--source 2001:db8::/32 --jump RETURN',
    '--source fd00::2 --jump RETURN',
    '--jump DROP',
  ]);
  assert.equal(about('PARLEY-POLICIES', rules('IPv4')).filter((rule) => rule.includes('icmp')).length, 0);
  assert.equal(
    about('PARLEY-POLICIES', rules('IPv6')).filter((rule) => rule.includes('neighbour')).length,
    2,
  );
});

test('what is not known is refused rather than let through', () => {
  const from = [{ ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.1/32'] } }];
  assert.throws(() => linesOf('n2', [policy('store', { ingress: [{ from }] })]), { message: /except/ });
});

function pod(app: string, ip: string, nodeName: string): Pod {
  const containers = [{ ports: [{ name: 'http', containerPort: 80 }] }];
  return {
    metadata: { name: app, namespace: 'a', labels: { app } },
    spec: { nodeName, containers },
    status: { podIPs: [{ ip }] },
  };
}

function policy(app: string, spec: Omit<NetworkPolicy['spec'], 'podSelector'>): NetworkPolicy {
  return {
    metadata: { name: app, namespace: 'a' },
    spec: { podSelector: { matchLabels: { app } }, ...spec },
  };
}

function world(policies: readonly NetworkPolicy[]): Objects {
  const namespaces = [
    { metadata: { name: 'a', labels: { team: 'a' } } },
    { metadata: { name: 'b', labels: { team: 'b' } } },
  ];
  return { policies, namespaces, pods: [web, store, other] };
}

function linesOf(node: string, policies: readonly NetworkPolicy[]): string[] {
  return rulesFor(node, 'IPv4', world(policies)).split('\n');
}

function chainsOf(node: string, policies: readonly NetworkPolicy[]): string[] {
  return linesOf(node, policies).flatMap((line) => /^:(\S+)/.exec(line)?.[1] ?? []);
}

/** The rules of a chain, without its name. */
function about(chain: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) => (line.startsWith(`-A ${chain} `) ? [line.slice(chain.length + 4)] : []));
}
