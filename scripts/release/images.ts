/** The images of a release: one index for each, with a manifest for every platform, as OCI layouts. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { saveIndex } from '../../infra/cluster/src/buildah.ts';
import { listContents } from '../../infra/cluster/src/contents.ts';
import { buildOwnImages, ensureBases, type OwnImage } from '../../infra/cluster/src/images.ts';
import type { Lab } from '../../infra/cluster/src/lab.ts';
import type { Programs } from './binaries.ts';
import { readLayout } from './layout.ts';
import type { Options, Platform } from './options.ts';
import type { Commit } from './sources.ts';

export interface Image {
  readonly name: OwnImage;
  /** Of the index, as in the registry. */
  readonly digest: string;
  /** The directory of its OCI layout. */
  readonly layout: string;
  readonly platforms: readonly Built[];
}

export interface Built {
  readonly platform: Platform;
  /** The SPDX document of its content. */
  readonly sbom: string;
  /** Bytes that a node downloads: the compressed layers. */
  readonly size: number;
}

/** Builds every image for each platform that has programs. Sections of the result's directory: `images`, `sbom`. */
export async function buildImages(
  lab: Lab,
  programs: readonly Programs[],
  { options, commit, directory }: { options: Options; commit: Commit; directory: string },
): Promise<Image[]> {
  if (options.bases === 'stand-ins') await ensureBases(lab);
  const ids = new Map<OwnImage, { platform: Platform; id: string; sbom: string }[]>();
  mkdirSync(join(directory, 'sbom'), { recursive: true });
  for (const { platform, parley, relay } of programs) {
    if (relay === undefined) continue;
    const built = await buildOwnImages(lab, `release-${platform.replace('/', '-')}`, {
      labels: labelsOf(options, commit),
      isOnNamedBases: options.bases === 'named',
      ...(options.bases === 'named' && { platform }),
      ...(!options.isPrebuilt && { binaries: { relay, parley } }),
    });
    for (const { name, id } of built) {
      const sbom = join(directory, 'sbom', `${name}-${platform.replace('/', '-')}.spdx.json`);
      const { faults } = await listContents(lab, { name, id }, sbom);
      // What `make build` leaves does not contain the list of its crates.
      const serious = faults.filter((fault) => !(options.isPrebuilt && fault.includes('cargo')));
      if (serious.length > 0) throw new Error(`the image ${name} for ${platform} ${serious.join(', ')}`);
      ids.set(name, [...(ids.get(name) ?? []), { platform, id, sbom }]);
    }
  }
  const images: Image[] = [];
  for (const [name, built] of ids) {
    const layout = join(directory, 'images', name);
    rmSync(layout, { recursive: true, force: true });
    mkdirSync(join(directory, 'images'), { recursive: true });
    await saveIndex(
      lab,
      built.map(({ id }) => id),
      { directory: layout, tag: options.version },
    );
    const { digest, sizes } = readLayout(layout);
    const platforms = built.map(({ platform, sbom }) => {
      const size = sizes.get(platform);
      if (size === undefined) throw new Error(`the image ${name} lacks ${platform}`);
      return { platform, sbom, size };
    });
    images.push({ name, digest, layout, platforms });
  }
  return images;
}

function labelsOf({ version, source }: Options, { revision, time }: Commit): Record<string, string> {
  return {
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': revision,
    'org.opencontainers.image.created': new Date(time * 1000).toISOString(),
    'org.opencontainers.image.licenses': 'Apache-2.0',
    ...(source !== undefined && { 'org.opencontainers.image.source': source }),
  };
}
