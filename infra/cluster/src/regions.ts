/**
 * Regions in the lab: each node is one, with a release of the chart in a namespace of its own. The CA, the gateways' certificate and the signing key are its own
 * too; gateways reach each other at the names of Services.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from '@parley/local/files';
import { inRepository } from '@parley/local/repository';
import { ensureKeys } from '@parley/regions/src/keys.ts';
import { ensureRegionCertificates, keyFile } from './certificates.ts';
import { kubectl } from './kubectl.ts';
import { nodes, type Lab, type Node } from './lab.ts';
import { helm, helmIn, installChart } from './release.ts';

export interface Region {
  /** Of its namespace too. */
  readonly name: string;
  readonly node: Node;
  /** The host name of its application; the lab's hosts file resolves it. */
  readonly host: string;
}

const label = 'topology.kubernetes.io/region';

export const regions: readonly Region[] = nodes.map((node) => {
  const name = node.labels[label] ?? '';
  return { name, node, host: `${name}.parley.test` };
});

/** Where the other regions reach its gateways. */
const gatewayHost = ({ name }: Region): string => `parley-nats-gateway-public.${name}.svc.cluster.local`;
const gatewayPort = 7222;

/**
 * Makes the namespace of a region, in place of what an earlier test left there, with its keys. A key set is read when a pod starts, so that of each region
 * has the public keys of all that are planned.
 */
export async function prepareRegion(lab: Lab, region: Region): Promise<void> {
  ensureRegionCertificates(lab, region.name, gatewayHost(region));
  const keys = ensureKeys(
    join(lab.dir, 'regions'),
    regions.map(({ name }) => name),
  );
  await removeRegion(lab, region);
  await kubectl(lab, 'create', 'namespace', region.name);
  await apply(lab, region, 'parley-region-keys', {
    'keys.json': readFileSync(keys.files[region.name] ?? '', 'utf8'),
    'keys-public.json': readFileSync(keys.publicFile, 'utf8'),
  });
}

/** Lets in the regions whose CAs these are. */
export async function trust(lab: Lab, region: Region, others: readonly Region[]): Promise<void> {
  const read = (file: string): string => readFileSync(keyFile(lab, file), 'utf8');
  await apply(lab, region, 'parley-gateways', {
    'tls.crt': read(`${region.name}-gateway.crt`),
    'tls.key': read(`${region.name}-gateway.key`),
    'ca.crt': [region, ...others].map(({ name }) => read(`${name}-ca.crt`)).join(''),
  });
}

/** Installs or upgrades the release of a region; resolves when all its pods are ready. `planned`: all regions of the installation. */
export async function installRegion(
  lab: Lab,
  region: Region,
  { planned, remotes }: { readonly planned: readonly Region[]; readonly remotes: readonly Region[] },
): Promise<void> {
  const file = join(lab.dir, 'conf', `${region.name}-values.json`);
  writePrivate(file, JSON.stringify(valuesOf(region, planned, remotes)));
  const chart = { chart: inRepository('charts/parley'), values: inRepository('infra/cluster/values.yaml') };
  const more = ['-f', inRepository('infra/cluster/region-values.yaml'), '-f', file];
  await installChart(lab, { ...chart, at: region.name }, ...more);
}

function valuesOf(region: Region, planned: readonly Region[], remotes: readonly Region[]): object {
  const here = { nodeSelector: { [label]: region.name } };
  const at = (other: Region): string => `${gatewayHost(other)}:${gatewayPort}`;
  return {
    region: region.name,
    host: region.host,
    regions: planned.map(({ name, host }) => ({ name, url: `https://${host}` })),
    nats: {
      ...here,
      gateways: {
        advertise: at(region),
        remotes: remotes.map((other) => ({ name: other.name, urls: [`nats://${at(other)}`] })),
      },
    },
    signaling: here,
    relay: here,
    web: here,
    edge: { ...here, service: { externalIPs: [region.node.address] } },
  };
}

/** Removes its release, its secrets and what it stored. */
export async function removeRegion(lab: Lab, { name }: Region): Promise<void> {
  await helmIn(lab, name, 'uninstall', 'parley', '--ignore-not-found', '--wait');
  await kubectl(lab, 'delete', 'namespace', name, '--ignore-not-found');
}

/** Removes the lab's one release, which uses every node: regions need their ports. */
export async function removeSingleRelease(lab: Lab): Promise<void> {
  await helm(lab, 'uninstall', 'parley', '--ignore-not-found', '--wait');
}

/** A Secret, in place of one of that name. */
async function apply(
  lab: Lab,
  { name: namespace }: Region,
  name: string,
  stringData: Readonly<Record<string, string>>,
): Promise<void> {
  const file = join(lab.dir, 'conf', `${namespace}-${name}.json`);
  writePrivate(
    file,
    JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData }),
  );
  await kubectl(lab, 'apply', '--server-side', '-f', file);
}
