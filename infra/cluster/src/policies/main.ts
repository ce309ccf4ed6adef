/** Enforces the cluster's NetworkPolicies on all its nodes, as a CNI plugin would; rules.ts makes the rules. */
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { describeLab, nodes, type Node } from '../lab.ts';
import { inNode } from '../network.ts';
import { Api } from './api.ts';
import type { Namespace, NetworkPolicy, Objects, Pod } from './objects.ts';
import { mainChain, rulesFor, type Family } from './rules.ts';

const paths = {
  policies: '/apis/networking.k8s.io/v1/networkpolicies',
  pods: '/api/v1/pods',
  namespaces: '/api/v1/namespaces',
} as const;
const programs: Readonly<Record<Family, string>> = { IPv4: 'iptables', IPv6: 'ip6tables' };
// A rollout changes a pod several times within this time.
const gatherMs = 100;

const api = new Api(describeLab(process.env));
const enforced = new Map<string, string>();
let wake = Promise.withResolvers<void>();
for (const path of Object.values(paths)) void api.follow(path, () => wake.resolve());

for (;;) {
  await wake.promise;
  await delay(gatherMs);
  wake = Promise.withResolvers();
  try {
    const objects = await read();
    for (const node of nodes) {
      for (const family of ['IPv4', 'IPv6'] as const)
        enforce(node, family, rulesFor(node.name, family, objects));
    }
  } catch (error) {
    console.error(String(error));
    setTimeout(() => wake.resolve(), 1000);
  }
}

async function read(): Promise<Objects> {
  const [policies, pods, namespaces] = await Promise.all([
    api.list<NetworkPolicy>(paths.policies),
    api.list<Pod>(paths.pods),
    api.list<Namespace>(paths.namespaces),
  ]);
  return { policies, pods, namespaces };
}

/** Runs before the chain in which kube-proxy accepts packets. */
function enforce(node: Node, family: Family, rules: string): void {
  const key = `${node.name} ${family}`;
  if (enforced.get(key) === rules) return;
  const program = programs[family];
  const iptables = (...args: string[]): void => run(node, [program, '--wait', '--table', 'mangle', ...args]);
  run(node, [`${program}-restore`, '--wait', '--noflush'], rules);
  try {
    iptables('--check', 'FORWARD', '--jump', mainChain);
  } catch {
    iptables('--insert', 'FORWARD', '--jump', mainChain);
  }
  enforced.set(key, rules);
}

function run(node: Node, command: readonly string[], input = ''): void {
  const [program = '', ...args] = [...inNode(node), ...command];
  execFileSync(program, args, { input, stdio: ['pipe', 'ignore', 'pipe'] });
}
