import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from '@parley/local/repository';
import { kubectl } from './kubectl.ts';
import { nodes, type Lab } from './lab.ts';
import { writePrivate } from '@parley/local/files';

// Three NATS servers, and as many again for a second release.
const volumesPerNode = 3;

interface Volume {
  readonly metadata: { readonly name: string };
  readonly status: { readonly phase: string };
}

/** The parts that every cluster has and no chart installs: DNS, and volumes, on directories of the nodes. */
export async function ensureSystem(lab: Lab): Promise<void> {
  await removeReleasedVolumes(lab);
  const volumes = nodes.flatMap(({ name }) =>
    Array.from({ length: volumesPerNode }, (_, index) => volume(lab, name, index + 1)),
  );
  const file = join(lab.dir, 'conf/volumes.json');
  writePrivate(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [storageClass, ...volumes] }));
  await kubectl(lab, 'apply', '--server-side', '-f', inRepository('infra/cluster/dns.yaml'), '-f', file);
  await kubectl(lab, '-n', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=180s');
}

/** The data of a volume is deleted with its claim, as on a cloud's disks. */
async function removeReleasedVolumes(lab: Lab): Promise<void> {
  const { items } = JSON.parse(await kubectl(lab, 'get', 'persistentvolumes', '-o', 'json')) as {
    items: Volume[];
  };
  for (const { metadata, status } of items) {
    if (status.phase !== 'Released') continue;
    await kubectl(lab, 'delete', 'persistentvolume', metadata.name);
    rmSync(join(lab.dir, 'volumes', metadata.name), { recursive: true, force: true });
  }
}

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};

function volume(lab: Lab, node: string, number: number): object {
  const name = `${node}-${number}`;
  const path = join(lab.dir, 'volumes', name);
  mkdirSync(path, { recursive: true });
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '2Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local',
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      },
    },
  };
}
