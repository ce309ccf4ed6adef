import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from '@parley/local/files';
import { apiServer, labAddress, nodes, type Lab } from './lab.ts';

// Longer than the lifetime of any lab.
const days = '3650';

/** The clients of the API server, by the name of their kubeconfig; the subject is their identity in Kubernetes. */
const clients: Record<string, string> = {
  admin: '/O=system:masters/CN=admin',
  'controller-manager': '/CN=system:kube-controller-manager',
  scheduler: '/CN=system:kube-scheduler',
  proxy: '/CN=system:kube-proxy',
  ...Object.fromEntries(nodes.map(({ name }) => [name, `/O=system:nodes/CN=system:node:${name}`])),
};

const apiServerNames = [
  `IP:${labAddress}`,
  'IP:127.0.0.1',
  'IP:10.96.0.1',
  'DNS:localhost',
  'DNS:kubernetes',
  'DNS:kubernetes.default',
  'DNS:kubernetes.default.svc',
  'DNS:kubernetes.default.svc.cluster.local',
];

/** A file of the cluster's keys and certificates: `ca.crt`, `apiserver.key`. */
export function keyFile(lab: Lab, name: string): string {
  return join(lab.dir, 'pki', name);
}

export function kubeconfig(lab: Lab, client: string): string {
  return keyFile(lab, `${client}.kubeconfig`);
}

/** One CA, the certificates of servers and clients, and the key of service accounts' tokens; made once. */
export function ensureCertificates(lab: Lab): void {
  const last = 'service-accounts.key';
  if (existsSync(keyFile(lab, last))) return;
  mkdirSync(join(lab.dir, 'pki'), { recursive: true, mode: 0o700 });
  makeCa(lab, 'ca', 'parley-lab');
  const asks = 'extendedKeyUsage=clientAuth';
  sign(lab, 'apiserver', '/CN=kube-apiserver', [
    'extendedKeyUsage=serverAuth',
    `subjectAltName=${apiServerNames.join(',')}`,
  ]);
  sign(lab, 'kubelet-client', '/O=system:masters/CN=apiserver-kubelet-client', [asks]);
  sign(lab, 'front-proxy', '/CN=front-proxy-client', [asks]);
  for (const [name, subject] of Object.entries(clients)) {
    sign(lab, name, subject, [asks]);
    writePrivate(kubeconfig(lab, name), kubeconfigOf(lab, name));
  }
  openssl(lab, `genrsa -out ${last} 2048`);
}

/**
 * A CA of a region, and a certificate by it for its gateway servers: `NAME-ca.crt`, `NAME-gateway.crt`; made once. All these CAs have one name, so
 * that nothing but their keys tells them apart.
 */
export function ensureRegionCertificates(lab: Lab, region: string, host: string): void {
  const [ca, gateway] = [`${region}-ca`, `${region}-gateway`];
  if (existsSync(keyFile(lab, `${gateway}.crt`))) return;
  makeCa(lab, ca, 'parley-gateways');
  sign(lab, gateway, `/CN=${gateway}`, [`subjectAltName=DNS:${host}`], ca);
}

function makeCa(lab: Lab, name: string, subject: string): void {
  makeKey(lab, name);
  openssl(lab, `req -x509 -new -key ${name}.key -days ${days} -subj /CN=${subject} -out ${name}.crt`);
}

function sign(lab: Lab, name: string, subject: string, extensions: readonly string[], ca = 'ca'): void {
  makeKey(lab, name);
  writePrivate(keyFile(lab, `${name}.extensions`), extensions.join('\n'));
  openssl(lab, `req -new -key ${name}.key -subj ${subject} -out ${name}.request`);
  openssl(
    lab,
    `x509 -req -in ${name}.request -CA ${ca}.crt -CAkey ${ca}.key -CAcreateserial -days ${days} ` +
      `-extfile ${name}.extensions -out ${name}.crt`,
  );
}

function makeKey(lab: Lab, name: string): void {
  openssl(lab, `ecparam -name prime256v1 -genkey -noout -out ${name}.key`);
}

/** JSON, which is valid YAML. */
function kubeconfigOf(lab: Lab, client: string): string {
  const files = {
    'client-certificate': keyFile(lab, `${client}.crt`),
    'client-key': keyFile(lab, `${client}.key`),
  };
  const cluster = { server: apiServer, 'certificate-authority': keyFile(lab, 'ca.crt') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster }],
    users: [{ name: client, user: files }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: client } }],
    'current-context': 'lab',
  });
}

function openssl(lab: Lab, args: string): void {
  execFileSync('openssl', args.split(' '), {
    cwd: join(lab.dir, 'pki'),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
