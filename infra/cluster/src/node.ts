import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { identify, isAlive, type Identity } from '@parley/local/identity';
import { readRecord, type ProcessSpec } from '@parley/local/supervise';
import { keyFile, kubeconfig } from './certificates.ts';
import { makeCgroup, removeCgroup } from './cgroups.ts';
import { kubectl } from './kubectl.ts';
import { dnsAddress, podNetworks, registryAddress, type Lab, type Node } from './lab.ts';
import { inNode } from './network.ts';

// Three cold nodes on two cores need 15 s, and ten times that on a busy machine.
const readyWithinMs = 180_000;
const initScript = fileURLToPath(new URL('node-init.sh', import.meta.url));

/**
 * A node: containerd, kubelet and kube-proxy in namespaces of their own. SIGKILL of the process acts as a power cut: its pid
 * namespace ends with it, pods included; written data stays.
 */
export function nodeSpec(lab: Lab, node: Node): ProcessSpec {
  const dir = join(lab.dir, node.name);
  return {
    name: node.name,
    command: 'nsenter',
    args: [
      ...inNode(node).slice(1),
      ...'unshare --mount --uts --ipc --pid --fork --kill-child=KILL --propagation slave bash'.split(' '),
      initScript,
    ],
    env: {
      NODE_NAME: node.name,
      NODE_DIR: dir,
      NODE_ADDRESSES: `${node.address},${node.address6}`,
      NODE_LABELS: Object.entries(node.labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(),
      NODE_KUBECONFIG: kubeconfig(lab, node.name),
      PROXY_KUBECONFIG: kubeconfig(lab, 'proxy'),
      POD_NETWORKS: podNetworks.join(),
      KUBERNETES: lab.toolDir('kubernetes', 'KUBERNETES_LAB'),
    },
    files: [
      { path: join(dir, 'containerd.toml'), content: containerdConfiguration(dir) },
      { path: join(dir, 'registries/_default/hosts.toml'), content: registries() },
      { path: join(dir, 'networks/10-lab.conflist'), content: podNetworkConfiguration(node) },
      { path: join(dir, 'kubelet.yaml'), content: kubeletConfiguration(lab, node, dir) },
      // Names outside of the cluster do not exist.
      { path: join(dir, 'resolv.conf'), content: '' },
    ],
    ports: [],
    url: `https://${node.address}:10250`,
    ready: () => kubectl(lab, 'wait', '--for=condition=Ready', `node/${node.name}`, '--timeout=30s'),
    readyWithinMs,
  };
}

/** The first process of a running node, whose end ends all others; undefined if the node does not run. */
export function firstProcess(lab: Lab, node: Node): Identity | undefined {
  const record = readRecord(lab.dir, node.name);
  if (!record || !isAlive(record)) return undefined;
  const children = readFileSync(`/proc/${record.pid}/task/${record.pid}/children`, 'utf8');
  return identify(Number(children.trim().split(' ')[0]));
}

/** Makes the node's cgroup. Removes leftovers of a power cut first, as the kubelet would handle each for seconds. */
export function makeCgroups(node: Node): void {
  removeCgroups(node);
  makeCgroup(cgroupOf(node));
}

export function removeCgroups(node: Node): void {
  removeCgroup(cgroupOf(node));
}

function cgroupOf(node: Node): string {
  return `parley-${node.name}`;
}

function containerdConfiguration(dir: string): string {
  return `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10"
  disable_apparmor = true
  # A machine that is itself a container may not protect a process from the OOM killer.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${dir}/registries"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`;
}

function registries(): string {
  return `server = "http://${registryAddress}"
[host."http://${registryAddress}"]
  capabilities = ["pull", "resolve"]
`;
}

function podNetworkConfiguration(node: Node): string {
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: node.podNetwork }], [{ subnet: node.podNetwork6 }]],
    routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
  };
  const bridge = { type: 'bridge', bridge: 'pods', isGateway: true, hairpinMode: true, ipMasq: false, ipam };
  const hostPorts = { type: 'portmap', capabilities: { portMappings: true } };
  return JSON.stringify({ cniVersion: '0.4.0', name: 'lab', plugins: [bridge, hostPorts] });
}

function kubeletConfiguration(lab: Lab, node: Node, dir: string): string {
  return JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: keyFile(lab, 'ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroupOf(node)}`,
    failCgroupV1: false,
    failSwapOn: false,
    clusterDomain: 'cluster.local',
    clusterDNS: [dnsAddress],
    resolvConf: join(dir, 'resolv.conf'),
    serializeImagePulls: false,
    registryPullQPS: 0,
    // All nodes share one disk with the rest of this machine: they neither clean it up nor evict pods because of it.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: {
      'memory.available': '200Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    maxPods: 60,
  });
}
