import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lab } from './lab.ts';
import { run } from './run.ts';
import { writePrivate } from '@parley/local/files';

export interface Build {
  readonly tag: string;
  readonly dockerfile: string;
  readonly context: string;
  readonly args?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Such as `linux/arm64`; that of this machine if it is absent. */
  readonly platform?: string | undefined;
  /** Whether missing base images are pulled; otherwise they have to exist. */
  readonly pull?: boolean;
}

/** Builds an image; unchanged layers are reused. Answers its id. */
export async function build(lab: Lab, image: Build): Promise<string> {
  const { tag, dockerfile, context, args = {}, labels = {}, platform, pull = false } = image;
  const how = `bud ${pull ? '--pull' : '--pull-never'} --layers --timestamp 0 --quiet`.split(' ');
  const settings = [
    ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...(platform === undefined ? [] : ['--platform', platform]),
  ];
  const command = [...how, '--file', dockerfile, '--tag', tag, ...settings, context];
  const id = await run([...buildah(lab), ...command], environment(lab));
  return id.trim();
}

/** Buildah leaves the layers of multi-stage builds mounted. */
export async function unmountLayers({ imagesDir }: Lab): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1]);
  const left = mounts.filter((at) => at?.startsWith(`${imagesDir}/storage/`));
  for (const at of left.toReversed()) await run(['umount', at ?? '']);
}

/** The ids of the local images, by their names with tags. */
export async function listImages(lab: Lab): Promise<Map<string, string>> {
  const lines = await run(
    [...buildah(lab), 'images', '--format', '{{.Name}}:{{.Tag}} {{.ID}}'],
    environment(lab),
  );
  return new Map(
    lines
      .split('\n')
      .flatMap((line) => [splitOnce(line)])
      .filter(([name]) => name !== ''),
  );
}

export async function nameImage(lab: Lab, id: string, name: string): Promise<void> {
  await run([...buildah(lab), 'tag', id, name], environment(lab));
}

export async function push(lab: Lab, inside: readonly string[], image: string, to: string): Promise<void> {
  const how = 'push --quiet --disable-compression --tls-verify=false'.split(' ');
  await run([...inside, ...buildah(lab), ...how, image, `docker://${to}`], environment(lab));
}

/** Writes the image as an OCI archive, without compression: for a program that reads it at once. */
export async function save(lab: Lab, id: string, file: string): Promise<void> {
  const how = ['--quiet', '--disable-compression'];
  await run([...buildah(lab), 'push', ...how, id, `oci-archive:${file}`], environment(lab));
}

/** Writes an index of images, each of another platform, as an OCI layout with one tag. The layers are compressed. */
export async function saveIndex(
  lab: Lab,
  ids: readonly string[],
  layout: { readonly directory: string; readonly tag: string },
): Promise<void> {
  const name = `localhost/index-${process.pid}-${ids[0]?.slice(0, 12)}`;
  await run([...buildah(lab), 'manifest', 'create', name, ...ids], environment(lab));
  try {
    const to = `oci:${layout.directory}:${layout.tag}`;
    const how = ['--all', '--quiet', '--format', 'oci'];
    await run([...buildah(lab), 'manifest', 'push', ...how, name, to], environment(lab));
  } finally {
    await run([...buildah(lab), 'manifest', 'rm', name], environment(lab));
  }
}

function buildah({ imagesDir }: Lab): string[] {
  return ['buildah', '--root', join(imagesDir, 'storage'), '--runroot', join(imagesDir, 'run')];
}

/** Without a daemon or a local registry, `debian:bookworm-slim` resolves to the image that was built under that name. */
function environment({ imagesDir }: Lab): NodeJS.ProcessEnv {
  const registries = join(imagesDir, 'registries.conf');
  writePrivate(registries, 'unqualified-search-registries = ["docker.io"]\nshort-name-mode = "disabled"\n');
  return { BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'overlay', CONTAINERS_REGISTRIES_CONF: registries };
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf(' ');
  return at < 0 ? ['', ''] : [line.slice(0, at), line.slice(at + 1)];
}
