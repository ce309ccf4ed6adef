/** The herd as objects of Kubernetes: a ConfigMap with the script, and a TestRun of the k6 operator that lets several pods run it. */

import { isStorm } from '../k6/profiles/storm.ts';

export interface DistributedHerd {
  readonly profile: string;
  /** Parley's address, as clients reach it. */
  readonly site: string;
  readonly parallelism: number;
  readonly k6Version: string;
  /** What `k6 archive` writes: the script with all that it imports. */
  readonly archive: Uint8Array;
  /** A share of the people. */
  readonly scale?: string | undefined;
  /** Where k6 writes its figures as JSON: `stdout`, or a file in the pod. */
  readonly summary?: string | undefined;
}

/** The API server takes no larger ConfigMap. */
const CONFIG_MAP_BYTES = 1_048_576;
const NAME = 'parley-herd';
const FILE = 'archive.tar';
/** An estimate for 1,000 people, with room for a collection of garbage. */
const RESOURCES = {
  requests: { cpu: '500m', memory: '1Gi' },
  limits: { memory: '3Gi' },
} as const;

/** A list for `kubectl apply -f -`. */
export function manifestOf(herd: DistributedHerd): object {
  const { profile, site, parallelism, k6Version, archive, scale, summary } = herd;
  if (!isStorm(profile) && parallelism > 1)
    throw new Error(
      `several k6 cannot share "${profile}", which counts its joins: take a profile with an event`,
    );
  if (archive.length > CONFIG_MAP_BYTES)
    throw new Error(`the archive has ${archive.length} bytes, and a ConfigMap takes ${CONFIG_MAP_BYTES}`);
  const metadata = { name: NAME, labels: { 'app.kubernetes.io/name': NAME } };
  const image = `grafana/k6:${k6Version}`;
  const env = [
    { name: 'HERD_PROFILE', value: profile },
    { name: 'HERD_SITE', value: site },
    ...(scale === undefined ? [] : [{ name: 'HERD_SCALE', value: scale }]),
    ...(summary === undefined ? [] : [{ name: 'HERD_SUMMARY', value: summary }]),
  ];
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        binaryData: { [FILE]: Buffer.from(archive).toString('base64') },
      },
      {
        apiVersion: 'k6.io/v1alpha1',
        kind: 'TestRun',
        metadata,
        spec: {
          parallelism,
          // Each on a node of its own: they are not to take processor time from each other.
          separate: true,
          script: { configMap: { name: NAME, file: FILE } },
          arguments: '--no-usage-report',
          initializer: { image, env },
          runner: { image, env, resources: RESOURCES },
        },
      },
    ],
  };
}
