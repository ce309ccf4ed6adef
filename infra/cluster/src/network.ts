import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homes, labAddress, nodes, serviceNetwork, type Node } from './lab.ts';

/**
 * The lab's network, nothing of which is in the machine's own: a bridge in one namespace, where the control plane, the
 * registry and the tests are, and a namespace for every node.
 *
 *     parley-lab 203.0.113.1 --+-- parley-n1 203.0.113.11, pods 10.244.1.0/24
 *                              +-- parley-n2 203.0.113.12, pods 10.244.2.0/24
 *                              +-- parley-n3 203.0.113.13, pods 10.244.3.0/24
 */
const labNamespace = 'parley-lab';

/** The command that runs another one in the lab's network. Not `ip netns exec`, which hides the cgroups under /sys. */
export const inLab: readonly string[] = into(labNamespace);

export function inNode(node: Node): readonly string[] {
  return into(namespaceOf(node));
}

/** Makes the network if it does not exist; an incomplete one is created again. */
export function ensureNetwork(): void {
  if (namespaces().every((name) => existsSync(`/run/netns/${name}`))) return;
  removeNetwork();
  try {
    makeBridge();
    for (const node of nodes) attach(node);
    // Tests in the lab reach Services, over the rules of the first node.
    run(inLab, `ip route add ${serviceNetwork} via ${nodes[0]?.address}`);
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
  run(inLab, 'ip link set bridge0 up');
  set(inLab, 'net/ipv4/ip_forward', 1);
}

function attach(node: Node): void {
  const inside = inNode(node);
  run([], `ip netns add ${namespaceOf(node)}`);
  run(inLab, `ip link add ${node.name} type veth peer name eth0 netns ${namespaceOf(node)}`);
  run(inLab, `ip link set ${node.name} master bridge0 up`);
  run(inside, 'ip link set lo up');
  run(inside, `ip address add ${node.address}/24 dev eth0`);
  run(inside, 'ip link set eth0 up');
  run(inside, `ip route add default via ${labAddress}`);
  set(inside, 'net/ipv4/ip_forward', 1);
  set(inside, 'net/ipv4/conf/all/rp_filter', 0);
  // Replies of a Service pass the rules of kube-proxy also if both ends are on one bridge.
  set(inside, 'net/bridge/bridge-nf-call-iptables', 1);
  for (const other of nodes) {
    if (other !== node) run(inside, `ip route add ${other.podNetwork} via ${other.address}`);
  }
  run(inLab, `ip route add ${node.podNetwork} via ${node.address}`);
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
  return [...nodes.map(namespaceOf), labNamespace];
}

function namespaceOf(node: Node): string {
  return `parley-${node.name}`;
}

function into(namespace: string): string[] {
  return ['nsenter', `--net=/run/netns/${namespace}`];
}
