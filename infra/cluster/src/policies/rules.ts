import type { NetworkPolicy, Objects, Peer, Pod, Port, Selector } from './objects.ts';

/** The chain from which all others are reached, in the tables of each family. */
export const mainChain = 'PARLEY-POLICIES';

export type Family = 'IPv4' | 'IPv6';

/** One rule of a policy, for ingress or egress. */
interface Rule {
  readonly peers: readonly Peer[] | undefined;
  readonly ports: readonly Port[];
  readonly namespace: string | undefined;
}

/** What is to be enforced for addresses of one family. */
interface World extends Objects {
  readonly family: Family;
}

interface Way {
  /** The pod's end of a packet, and the other one. */
  readonly own: '--destination' | '--source';
  readonly other: '--source' | '--destination';
  readonly chain: string;
  readonly rules: readonly Rule[];
}

/**
 * The input of `iptables-restore --noflush`, or of `ip6tables-restore`, that enforces the policies on one node: for every pod there that a
 * policy selects, a chain for each restricted direction, which returns for allowed packets and ends with a drop (networking.k8s.io/v1,
 * NetworkPolicySpec). Replies to allowed packets pass. Pods on the host network are not restricted. Throws at an unsupported policy.
 */
export function rulesFor(node: string, family: Family, objects: Objects): string {
  const world: World = { ...objects, family };
  const chains: string[] = [];
  const main = [`-A ${mainChain} --match conntrack --ctstate ESTABLISHED,RELATED --jump RETURN`];
  // By these pods on one bridge find each other (RFC 4861), as ARP does for IPv4, which no such rule is about.
  if (family === 'IPv6') {
    const types = ['neighbour-solicitation', 'neighbour-advertisement'];
    main.push(
      ...types.map((type) => `-A ${mainChain} --protocol icmpv6 --icmpv6-type ${type} --jump RETURN`),
    );
  }
  const rules: string[] = [];
  for (const pod of objects.pods) {
    const address = addressOf(pod, family);
    if (pod.spec.nodeName !== node || address === undefined) continue;
    for (const { own, other, chain, rules: allowed } of waysOf(pod, address, objects.policies)) {
      chains.push(chain);
      main.push(`-A ${mainChain} ${own} ${address} --jump ${chain}`);
      const matches = allowed.flatMap((rule) => matchesOf(rule, other, pod, world));
      rules.push(...matches.map((match) => `-A ${chain}${match} --jump RETURN`), `-A ${chain} --jump DROP`);
    }
  }
  const declared = [mainChain, ...chains].map((chain) => `:${chain} - [0:0]`);
  return ['*mangle', ...declared, ...main, ...rules, 'COMMIT', ''].join('\n');
}

/** The directions in which some policy restricts this pod. */
function waysOf(pod: Pod, address: string, policies: readonly NetworkPolicy[]): Way[] {
  const selecting = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === pod.metadata.namespace && selects(spec.podSelector, pod.metadata.labels),
  );
  // Without types a policy covers ingress, and egress if it has such rules.
  const incoming = selecting.filter(({ spec }) => spec.policyTypes?.includes('Ingress') ?? true);
  const outgoing = selecting.filter(
    ({ spec }) => spec.policyTypes?.includes('Egress') ?? spec.egress !== undefined,
  );
  const ways: Way[] = [];
  if (incoming.length > 0) {
    const rules = incoming.flatMap(({ metadata: { namespace }, spec }) =>
      (spec.ingress ?? []).map(({ from, ports = [] }) => ({ peers: from, ports, namespace })),
    );
    ways.push({ own: '--destination', other: '--source', chain: `IN-${address}`, rules });
  }
  if (outgoing.length > 0) {
    const rules = outgoing.flatMap(({ metadata: { namespace }, spec }) =>
      (spec.egress ?? []).map(({ to, ports = [] }) => ({ peers: to, ports, namespace })),
    );
    ways.push({ own: '--source', other: '--destination', chain: `OUT-${address}`, rules });
  }
  return ways;
}

/** Each peer with each port. */
function matchesOf(rule: Rule, other: Way['other'], pod: Pod, world: World): string[] {
  const { peers, namespace } = rule;
  const addresses =
    peers === undefined || peers.length === 0
      ? ['']
      : peers.flatMap((peer) => addressesOf(peer, namespace, world)).map((one) => ` ${other} ${one}`);
  const ports = rule.ports.length === 0 ? [''] : rule.ports.map((port) => matchOf(port, other, pod));
  return addresses.flatMap((address) => ports.map((port) => `${address}${port}`));
}

function addressesOf(
  peer: Peer,
  namespace: string | undefined,
  { pods, namespaces, family }: World,
): string[] {
  if (peer.ipBlock) {
    if (peer.ipBlock.except?.length) throw new Error('ipBlock.except is not known here');
    return familyOf(peer.ipBlock.cidr) === family ? [peer.ipBlock.cidr] : [];
  }
  const { namespaceSelector, podSelector = {} } = peer;
  const among = namespaceSelector
    ? namespaces.filter(({ metadata }) => selects(namespaceSelector, metadata.labels))
    : namespaces.filter(({ metadata }) => metadata.name === namespace);
  const names = new Set(among.map(({ metadata }) => metadata.name));
  return pods.flatMap((pod) => {
    const address = addressOf(pod, family);
    const { namespace = '', labels } = pod.metadata;
    return address !== undefined && names.has(namespace) && selects(podSelector, labels) ? [address] : [];
  });
}

function matchOf({ protocol = 'TCP', port, endPort }: Port, other: Way['other'], pod: Pod): string {
  const name = protocol.toLowerCase();
  if (port === undefined) return ` --protocol ${name}`;
  const number = typeof port === 'number' ? port : numberOf(port, other, pod);
  return ` --protocol ${name} --dport ${number}${endPort === undefined ? '' : `:${endPort}`}`;
}

function numberOf(name: string, other: Way['other'], pod: Pod): number {
  if (other === '--destination')
    throw new Error(`the named port ${name} of an egress rule is not known here`);
  const ports = pod.spec.containers.flatMap(({ ports = [] }) => ports);
  const found = ports.find((port) => port.name === name);
  if (!found) throw new Error(`${pod.metadata.name} has no port ${name}`);
  return found.containerPort;
}

function selects(selector: Selector, labels: Readonly<Record<string, string>> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const isThere = labels[key] !== undefined;
      if (operator === 'Exists') return isThere;
      if (operator === 'DoesNotExist') return !isThere;
      const isOneOf = values.includes(labels[key] ?? '') && isThere;
      return operator === 'In' ? isOneOf : !isOneOf;
    })
  );
}

function addressOf({ spec, status }: Pod, family: Family): string | undefined {
  if (spec.hostNetwork) return undefined;
  return status.podIPs?.find(({ ip }) => familyOf(ip) === family)?.ip;
}

/** Of an address or a block. */
function familyOf(address: string): Family {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}
