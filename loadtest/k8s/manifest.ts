/** The herd as objects of Kubernetes: a ConfigMap with the script, and a TestRun of the k6 operator that lets several pods run it. */

export interface DistributedHerd {
  readonly profile: string;
  /** Parley's address, as clients reach it. */
  readonly site: string;
  readonly parallelism: number;
  readonly k6Version: string;
  /** What `k6 archive` writes: the script with all that it imports. */
  readonly archive: Uint8Array;
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
export function manifestOf({ profile, site, parallelism, k6Version, archive }: DistributedHerd): object {
  if (archive.length > CONFIG_MAP_BYTES)
    throw new Error(`the archive has ${archive.length} bytes, and a ConfigMap takes ${CONFIG_MAP_BYTES}`);
  const metadata = { name: NAME, labels: { 'app.kubernetes.io/name': NAME } };
  const image = `grafana/k6:${k6Version}`;
  const env = [
    { name: 'HERD_PROFILE', value: profile },
    { name: 'HERD_SITE', value: site },
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
