import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessSpec } from '@parley/local/supervise';
import { apiServer, balancerAddress, nodes, type Lab } from './lab.ts';
import { inLab, inNode } from './network.ts';
import { mainChain } from './policies/rules.ts';
import { run } from './run.ts';

/** The parts around the pods that Kubernetes does not have: enforcement of network policies, and a load balancer. */
export function surroundingSpecs(lab: Lab): ProcessSpec[] {
  const policies = ['iptables', 'ip6tables'].map((program) =>
    `${program} --wait --table mangle --check FORWARD --jump ${mainChain}`.split(' '),
  );
  const balancer = 'iptables --wait --table nat --list PARLEY-BALANCER'.split(' ');
  return [
    spec(lab, 'policies', {
      script: './policies/main.ts',
      url: apiServer,
      ready: () =>
        Promise.all(nodes.flatMap((node) => policies.map((check) => run([...inNode(node), ...check])))),
    }),
    spec(lab, 'load-balancer', {
      script: './load-balancer.ts',
      url: `https://${balancerAddress}`,
      ready: () => run([...inLab, ...balancer]),
    }),
  ];
}

function spec(
  lab: Lab,
  name: string,
  { script, url, ready }: { script: string; url: string; ready: () => Promise<unknown> },
): ProcessSpec {
  return {
    name,
    command: 'nsenter',
    args: [...inLab.slice(1), process.execPath, fileURLToPath(new URL(script, import.meta.url))],
    env: { PARLEY_CLUSTER_DIR: lab.dir, PARLEY_CACHE: dirname(lab.imagesDir) },
    files: [],
    ports: [],
    url,
    ready,
  };
}
