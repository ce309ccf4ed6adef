import { kubectl } from './kubectl.ts';
import { balancerAddress, nodes, type Lab, type Node } from './lab.ts';
import { inLab, inNode } from './network.ts';
import { firstProcess } from './node.ts';
import { namespace, podsOf, type Pod } from './release.ts';
import { run } from './run.ts';

/** Kills the only process of a pod's container with SIGKILL, as the kernel does when memory is exhausted. */
export const killPod = (lab: Lab, pod: Pod): Promise<void> => signalPod(lab, pod, 'SIGKILL');

/** Sends a signal to the first process of a pod's only container, from outside: its own processes cannot stop it. */
export async function signalPod(
  lab: Lab,
  pod: Pod,
  signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT',
): Promise<void> {
  const id = pod.status.containerStatuses[0]?.containerID.replace('containerd://', '');
  if (id === undefined) throw new Error(`${pod.metadata.name} has no container`);
  const kill = ['ctr', '--namespace', 'k8s.io', 'task', 'kill', '--signal', signal];
  await run([...insideNode(lab, nodeOf(pod)), ...kill, id]);
}

/** Replaces the pods of a component, one after the other; resolves when the rollout is complete. */
export async function rollOut(lab: Lab, component: string): Promise<void> {
  const selector = `app.kubernetes.io/instance=parley,app.kubernetes.io/component=${component}`;
  const kinds = 'deployment,statefulset,daemonset';
  const names = await kubectl(lab, '-n', namespace, 'get', kinds, '-l', selector, '-o', 'name');
  for (const workload of names.trim().split('\n')) {
    await kubectl(lab, '-n', namespace, 'rollout', 'restart', workload);
    await kubectl(lab, '-n', namespace, 'rollout', 'status', workload, '--timeout=10m');
  }
}

/** Ends a pod as a drain of its node would; resolves when it was deleted, possibly before its replacement runs. */
export async function deletePod(lab: Lab, pod: Pod): Promise<void> {
  await kubectl(lab, '-n', namespace, 'delete', 'pod', pod.metadata.name);
}

/** Resolves when the desired number of pods are ready, on ready nodes. */
export async function allReady(lab: Lab): Promise<void> {
  await kubectl(lab, 'wait', '--for=condition=Ready', 'node', '--all', '--timeout=5m');
  for (const workload of ['deployment', 'statefulset', 'daemonset']) {
    const names = await kubectl(lab, '-n', namespace, 'get', workload, '-o', 'name');
    for (const name of names.trim().split('\n')) {
      await kubectl(lab, '-n', namespace, 'rollout', 'status', name, '--timeout=10m');
    }
  }
}

/** Breaks TCP connections with these ports of a pod, over both families, and lets in no new ones; resolves with what ends that. */
export async function closePorts(pod: Pod, ports: readonly number[]): Promise<() => Promise<void>> {
  const how = `--protocol tcp --match multiport --ports ${ports.join()} --jump REJECT --reject-with tcp-reset`;
  const ways = ['--source', '--destination'];
  const ends = await Promise.all(
    pod.status.podIPs.map(({ ip }) => {
      const rules = ways.map((way) => [way, ip, ...how.split(' ')]);
      return addRules(pod, rules, ip.includes(':') ? 'ip6tables' : 'iptables');
    }),
  );
  return async () => void (await Promise.all(ends.map((end) => end())));
}

/** Puts rules of iptables in front of what the node of a pod forwards; resolves with what takes them away. */
export async function addRules(
  pod: Pod,
  rules: readonly (readonly string[])[],
  program: 'iptables' | 'ip6tables' = 'iptables',
): Promise<() => Promise<void>> {
  const change = async (how: '--insert' | '--delete'): Promise<void> => {
    for (const rule of rules) await run([...inNode(nodeOf(pod)), program, '--wait', how, 'FORWARD', ...rule]);
  };
  await change('--insert');
  return () => change('--delete');
}

export function nodeOf(pod: Pod): Node {
  const node = nodes.find(({ name }) => name === pod.spec.nodeName);
  if (!node) throw new Error(`${pod.metadata.name} is on no node of the lab`);
  return node;
}

/** The pod of a component with the highest value of a metric, if that is above 0: the one in use. */
export async function busiestPod(
  lab: Lab,
  component: string,
  { port, metric }: { port: number; metric: RegExp },
): Promise<Pod> {
  const pods = await podsOf(lab, component);
  const uses = await Promise.all(
    pods.map(async (pod) => {
      const text = await readMetrics(pod, port);
      const values = [...text.matchAll(metric)].map(([, value]) => Number(value));
      return { pod, use: values.reduce((sum, value) => sum + value, 0) };
    }),
  );
  const [busiest] = uses.toSorted((one, other) => other.use - one.use);
  if (!busiest || busiest.use === 0) throw new Error(`no pod of ${component} is in use`);
  return busiest.pod;
}

/** From its own node, as the kubelet asks: network policies allow no other source. */
export function readMetrics(pod: Pod, port: number): Promise<string> {
  const ask = ['curl', '--silent', '--fail', `http://${pod.status.podIP}:${port}/metrics`];
  return run([...inNode(nodeOf(pod)), ...ask]);
}

/** The node, other than `except`, with the most open connections from the load balancer. */
export async function busiestEntry(except?: Node): Promise<Node> {
  const list = `conntrack --dump --proto tcp --state ESTABLISHED --orig-dst ${balancerAddress}`.split(' ');
  const connections = await run([...inLab, ...list]);
  const others = nodes.filter(({ name }) => name !== except?.name);
  const uses = others.map((node) => ({ node, use: connections.split(`src=${node.address} `).length - 1 }));
  const [busiest] = uses.toSorted((one, other) => other.use - one.use);
  // By chance all connections may use the excluded node.
  if (!busiest || (busiest.use === 0 && except === undefined))
    throw new Error('no client uses the load balancer');
  return busiest.node;
}

/** The command that runs another one in a node's namespaces. */
function insideNode(lab: Lab, node: Node): string[] {
  const first = firstProcess(lab, node);
  if (!first) throw new Error(`${node.name} does not run`);
  return ['nsenter', '--target', String(first.pid), '--mount', '--net', '--pid', '--uts', '--ipc'];
}
