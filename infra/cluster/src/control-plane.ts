import { join } from 'node:path';
import type { ProcessSpec } from '@parley/local/supervise';
import { keyFile, kubeconfig } from './certificates.ts';
import {
  apiServer,
  kubernetesProgram,
  labAddress,
  registryAddress,
  serviceNetwork,
  serviceNetwork6,
  type Lab,
} from './lab.ts';
import { kubectl } from './kubectl.ts';
import { inLab } from './network.ts';
import { run } from './run.ts';

// The API server makes its own objects before it is ready: 5 s on an idle machine, far longer while images of nodes are unpacked.
const readyWithinMs = 180_000;

/** etcd and the API server. etcd does not sync its writes: after a stop of the machine the lab is created again. */
export function apiServerSpecs(lab: Lab): ProcessSpec[] {
  const key = (name: string) => keyFile(lab, name);
  return [
    spec(lab, 'etcd', {
      flags: {
        name: 'lab',
        'data-dir': join(lab.dir, 'etcd'),
        'unsafe-no-fsync': 'true',
        'listen-peer-urls': 'http://127.0.0.1:2380',
        'log-level': 'warn',
      },
      url: 'http://127.0.0.1:2379',
      ready: () => run([...inLab, 'curl', '--silent', '--fail', 'http://127.0.0.1:2379/readyz']),
    }),
    spec(lab, 'kube-apiserver', {
      flags: {
        'etcd-servers': 'http://127.0.0.1:2379',
        'bind-address': '0.0.0.0',
        'advertise-address': labAddress,
        'secure-port': '6443',
        'service-cluster-ip-range': `${serviceNetwork},${serviceNetwork6}`,
        'client-ca-file': key('ca.crt'),
        'tls-cert-file': key('apiserver.crt'),
        'tls-private-key-file': key('apiserver.key'),
        'kubelet-client-certificate': key('kubelet-client.crt'),
        'kubelet-client-key': key('kubelet-client.key'),
        'kubelet-preferred-address-types': 'InternalIP',
        'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
        'service-account-signing-key-file': key('service-accounts.key'),
        'service-account-key-file': key('service-accounts.key'),
        'requestheader-client-ca-file': key('ca.crt'),
        'requestheader-allowed-names': 'front-proxy-client',
        'requestheader-username-headers': 'X-Remote-User',
        'requestheader-group-headers': 'X-Remote-Group',
        'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
        'proxy-client-cert-file': key('front-proxy.crt'),
        'proxy-client-key-file': key('front-proxy.key'),
        'authorization-mode': 'Node,RBAC',
        'allow-privileged': 'true',
      },
      url: apiServer,
      ready: () => kubectl(lab, 'get', '--raw=/readyz'),
    }),
  ];
}

export function controllerSpecs(lab: Lab): ProcessSpec[] {
  return [
    spec(lab, 'kube-controller-manager', {
      flags: {
        kubeconfig: kubeconfig(lab, 'controller-manager'),
        'service-account-private-key-file': keyFile(lab, 'service-accounts.key'),
        'root-ca-file': keyFile(lab, 'ca.crt'),
        'use-service-account-credentials': 'true',
        'cluster-signing-cert-file': keyFile(lab, 'ca.crt'),
        'cluster-signing-key-file': keyFile(lab, 'ca.key'),
        'leader-elect': 'false',
        'bind-address': '127.0.0.1',
      },
      url: 'https://127.0.0.1:10257',
      ready: answersOkInLab('https://127.0.0.1:10257/healthz'),
    }),
    spec(lab, 'kube-scheduler', {
      flags: {
        kubeconfig: kubeconfig(lab, 'scheduler'),
        'leader-elect': 'false',
        'bind-address': '127.0.0.1',
      },
      url: 'https://127.0.0.1:10259',
      ready: answersOkInLab('https://127.0.0.1:10259/healthz'),
    }),
  ];
}

/** The registry from which nodes pull every image, whatever registry its name has. */
export function registrySpec(lab: Lab): ProcessSpec {
  const configuration = join(lab.dir, 'conf', 'registry.yml');
  return {
    name: 'registry',
    command: 'nsenter',
    args: [...inLab.slice(1), 'docker-registry', 'serve', configuration],
    env: {},
    files: [
      {
        path: configuration,
        content: JSON.stringify({
          version: 0.1,
          log: { level: 'warn' },
          storage: { filesystem: { rootdirectory: join(lab.dir, 'registry') }, delete: { enabled: true } },
          http: { addr: registryAddress },
        }),
      },
    ],
    ports: [],
    url: `http://${registryAddress}`,
    ready: answersOkInLab(`http://${registryAddress}/v2/`),
  };
}

function spec(
  lab: Lab,
  name: string,
  { flags, url, ready }: { flags: Record<string, string>; url: string; ready: () => Promise<unknown> },
): ProcessSpec {
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  return {
    name,
    command: 'nsenter',
    args: [...inLab.slice(1), kubernetesProgram(lab, name), ...args],
    env: {},
    files: [],
    ports: [],
    url,
    ready,
    readyWithinMs,
  };
}

function answersOkInLab(url: string): () => Promise<unknown> {
  return () => run([...inLab, 'curl', '--silent', '--insecure', '--fail', '--max-time', '2', url]);
}
