/** Reads an image in an OCI layout: https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Layout {
  /** Of the index. */
  readonly digest: string;
  /** Bytes of the layers of each platform, such as `linux/amd64`. */
  readonly sizes: ReadonlyMap<string, number>;
}

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: string };
}

/** User and group of every image of Parley. */
const USER = '10001:10001';

/** Reads the one index of a layout, and throws unless its images have an ordinary user. */
export function readLayout(directory: string): Layout {
  const blob = ({ digest }: Descriptor): unknown =>
    readJson(join(directory, 'blobs', digest.replace(':', '/')));
  const [index, ...others] = (readJson(join(directory, 'index.json')) as { manifests: Descriptor[] })
    .manifests;
  if (index === undefined || others.length > 0) throw new Error(`${directory} has not one image`);
  const sizes = (blob(index) as { manifests: Descriptor[] }).manifests.map((manifest) => {
    const { config, layers } = blob(manifest) as { config: Descriptor; layers: Descriptor[] };
    const { User: user = 'root' } = (blob(config) as { config: { User?: string } }).config;
    if (user !== USER) throw new Error(`${directory} has an image that runs as ${user}, not as ${USER}`);
    const { os = '', architecture = '' } = manifest.platform ?? {};
    return [`${os}/${architecture}`, layers.reduce((sum, layer) => sum + layer.size, 0)] as const;
  });
  return { digest: index.digest, sizes: new Map(sizes) };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
