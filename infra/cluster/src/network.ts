import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  homes,
  labAddress,
  ipv6Home,
  labAddress6,
  nodes,
  serviceNetwork,
  serviceNetwork6,
  type Node,
} from './lab.ts';

/**
 * The lab's network, nothing of which is in the machine's own: a bridge in one namespace, where the control plane, the
 * registry and the tests are, and a namespace for every node.
 *
 *     parley-lab 203.0.113.1 --+-- parley-n1 203.0.113.11, pods 10.244.1.0/24
 *                              +-- parley-n2 203.0.113.12, pods 10.244.2.0/24
 *                              +-- parley-n3 203.0.113.13, pods 10.244.3.0/24
 *
 * Each also has an address of 2001:db8::/32 with the same end, and its pods one of fd00:10:244:N::/64.
 */
const labNamespace = 'parley-lab';

/** The command that runs another one in the lab's network. Not `ip netns exec`, which hides the cgroups under /sys. */
export const inLab: readonly string[] = into(labNamespace);

export function inNode(node: Node): readonly string[] {
  return into(namespaceOf(node));
}

/** The same for a participant outside of the cluster whose provider gives IPv6 alone. */
const ipv6Namespace = 'parley-ipv6';
export const inIpv6: readonly string[] = into(ipv6Namespace);

/** Makes the network if it does not exist; an incomplete one is created again. */
export function ensureNetwork(): void {
  if (namespaces().every((name) => existsSync(`/run/netns/${name}`))) return;
  removeNetwork();
  try {
    makeBridge();
    for (const node of nodes) attach(node);
    attachIpv6();
    // Tests in the lab reach Services, over the rules of the first node.
    run(inLab, `ip route add ${serviceNetwork} via ${nodes[0]?.address}`);
    run(inLab, `ip route add ${serviceNetwork6} via ${nodes[0]?.address6}`);
  } catch (error) {
    removeNetwork();
    throw error;
  }
}

export function removeNetwork(): void {
  for (const name of namespaces()) {
    if (existsSync(`/run/netns/${name}`)) run([], `ip netns del ${name}`);
  }
}

/** Cuts the node's network link, and restores it. */
export function setCable(node: Node, state: 'up' | 'down'): void {
  run(inLab, `ip link set ${node.name} ${state}`);
}

function makeBridge(): void {
  run([], `ip netns add ${labNamespace}`);
  run(inLab, 'ip link set lo up');
  run(inLab, 'ip link add bridge0 type bridge');
  for (const address of [labAddress, ...homes]) run(inLab, `ip address add ${address}/24 dev bridge0`);
  // No other machine can have an address of the lab: it is in use at once.
  run(inLab, `ip address add ${labAddress6}/64 dev bridge0 nodad`);
  run(inLab, 'ip link set bridge0 up');
  forward(inLab);
}

function attach(node: Node): void {
  const inside = inNode(node);
  run([], `ip netns add ${namespaceOf(node)}`);
  run(inLab, `ip link add ${node.name} type veth peer name eth0 netns ${namespaceOf(node)}`);
  run(inLab, `ip link set ${node.name} master bridge0 up`);
  run(inside, 'ip link set lo up');
  run(inside, `ip address add ${node.address}/24 dev eth0`);
  run(inside, `ip address add ${node.address6}/64 dev eth0 nodad`);
  run(inside, 'ip link set eth0 up');
  run(inside, `ip route add default via ${labAddress}`);
  run(inside, `ip route add default via ${labAddress6}`);
  forward(inside);
  set(inside, 'net/ipv4/conf/all/rp_filter', 0);
  // Replies of a Service pass the rules of kube-proxy also if both ends are on one bridge.
  set(inside, 'net/bridge/bridge-nf-call-iptables', 1);
  set(inside, 'net/bridge/bridge-nf-call-ip6tables', 1);
  for (const other of nodes) {
    if (other !== node) routePods(inside, other);
  }
  routePods(inLab, node);
}

function attachIpv6(): void {
  run([], `ip netns add ${ipv6Namespace}`);
  run(inLab, `ip link add ipv6 type veth peer name eth0 netns ${ipv6Namespace}`);
  run(inLab, 'ip link set ipv6 master bridge0 up');
  run(inIpv6, 'ip link set lo up');
  run(inIpv6, `ip address add ${ipv6Home}/64 dev eth0 nodad`);
  run(inIpv6, 'ip link set eth0 up');
}

function routePods(inside: readonly string[], node: Node): void {
  run(inside, `ip route add ${node.podNetwork} via ${node.address}`);
  run(inside, `ip route add ${node.podNetwork6} via ${node.address6}`);
}

function forward(inside: readonly string[]): void {
  set(inside, 'net/ipv4/ip_forward', 1);
  set(inside, 'net/ipv6/conf/all/forwarding', 1);
}

function set(inside: readonly string[], key: string, value: number): void {
  execute([...inside, 'sh', '-c', `echo ${value} >/proc/sys/${key}`]);
}

function run(inside: readonly string[], command: string): void {
  execute([...inside, ...command.split(' ')]);
}

function execute([program = '', ...args]: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function namespaces(): string[] {
  return [...nodes.map(namespaceOf), ipv6Namespace, labNamespace];
}

function namespaceOf(node: Node): string {
  return `parley-${node.name}`;
}

function into(namespace: string): string[] {
  return ['nsenter', `--net=/run/netns/${namespace}`];
}
