import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfThere, writePrivate } from '@parley/local/files';
import { inRepository } from '@parley/local/repository';
import { findTools } from '@parley/local/tools';
import { build, listImages, nameImage, push } from './buildah.ts';
import { registryAddress, type Lab } from './lab.ts';
import { inLab } from './network.ts';
import { run } from './run.ts';
import { ensureStandIns } from './stand-ins.ts';

const own = {
  signaling: { dockerfile: 'services/signaling/Dockerfile', args: {} },
  relay: { dockerfile: 'services/relay/Dockerfile', args: { BINARY: 'prebuilt' } },
  turn: { dockerfile: 'services/turn/Dockerfile', args: {} },
  web: { dockerfile: 'client/web/Dockerfile', args: { DIST: 'prebuilt' } },
  cli: { dockerfile: 'client/cli/Dockerfile', args: { BINARY: 'prebuilt' } },
} as const;

export type OwnImage = keyof typeof own;

/** The place of an image's name in the chart's values: at the component that runs it. */
export const sections: Readonly<Record<OwnImage, string>> = {
  signaling: 'signaling',
  relay: 'relay',
  turn: 'turn',
  web: 'web',
  cli: 'doctor',
};

/** Builds every image that a node pulls; answers their names. Parley's own use their Dockerfiles, with other base images only. */
export async function buildImages(lab: Lab): Promise<string[]> {
  const images = await ensureStandIns(lab);
  const tags: Record<string, string> = {};
  for (const { name, id } of await buildOwnImages(lab, 'lab')) {
    const image = `ghcr.io/parley/${name}`;
    const tag = id.slice(0, 12);
    await nameImage(lab, id, `${image}:${tag}`);
    tags[sections[name]] = tag;
    images.push(`${image}:${tag}`);
  }
  writePrivate(imageValuesFile(lab), imageValues(tags));
  return images;
}

/** Makes the base images of Parley's own images that are missing. */
export async function ensureBases(lab: Lab): Promise<void> {
  const dockerfiles = Object.values(own).map(({ dockerfile }) =>
    readFileSync(inRepository(dockerfile), 'utf8'),
  );
  await ensureStandIns(
    lab,
    dockerfiles.flatMap((dockerfile) => Object.values(standInBases(dockerfile))),
  );
}

export interface OwnBuild {
  readonly labels?: Readonly<Record<string, string>>;
  readonly platform?: string;
  /** Whether the base images are those that the Dockerfiles name, pulled if they are missing, and not the lab's substitutes. */
  readonly isOnNamedBases?: boolean;
  /** Stripped binaries of that platform; otherwise those that `make build` left for this machine's. */
  readonly binaries?: { readonly relay: string; readonly parley: string };
}

/** Builds Parley's own images from compiled binaries. Substitutes of base images have to exist. */
export async function buildOwnImages(
  lab: Lab,
  tag: string,
  { labels = {}, platform, isOnNamedBases = false, binaries }: OwnBuild = {},
): Promise<readonly { readonly name: OwnImage; readonly id: string }[]> {
  await pack(binaries);
  const built: { name: OwnImage; id: string }[] = [];
  for (const name of Object.keys(own) as OwnImage[]) {
    const dockerfile = inRepository(own[name].dockerfile);
    const bases = isOnNamedBases ? {} : standInBases(readFileSync(dockerfile, 'utf8'));
    const id = await build(lab, {
      tag: `ghcr.io/parley/${name}:${tag}`,
      dockerfile,
      context: inRepository(''),
      args: { ...bases, ...own[name].args },
      labels,
      platform,
      pull: isOnNamedBases,
    });
    built.push({ name, id });
  }
  return built;
}

/** Values of the chart that name the images built last, each by a hash of its content, so that a changed one is pulled. */
export function imageValuesFile(lab: Lab): string {
  return join(lab.dir, 'images.yaml');
}

/** Pushes missing images to the lab's registry. */
export async function pushImages(lab: Lab, images: readonly string[]): Promise<void> {
  const file = join(lab.dir, 'pushed.json');
  const pushed = JSON.parse(readIfThere(file) ?? '{}') as Record<string, string>;
  const ids = await listImages(lab);
  for (const image of images) {
    const id = ids.get(image);
    if (id === undefined) throw new Error(`there is no image ${image}`);
    if (pushed[image] === id) continue;
    await push(lab, inLab, image, `${registryAddress}/${image.slice(image.indexOf('/') + 1)}`);
    pushed[image] = id;
    writePrivate(file, JSON.stringify(pushed, null, 2));
  }
}

/** Base images by their tags alone, as a substitute has another digest than the original. */
function standInBases(dockerfile: string): Record<string, string> {
  const bases = dockerfile.matchAll(/^ARG (\w+_IMAGE)=([^\s@]+)/gm);
  return Object.fromEntries([...bases].map(([, name = '', image = '']) => [name, image]));
}

/** Puts binaries where the Dockerfiles take them from, without debug information. */
async function pack(binaries: OwnBuild['binaries']): Promise<void> {
  const inRelay = destination('services/relay/dist/parley-relay');
  const inCli = destination('client/cli/dist/parley');
  if (binaries) {
    copyFileSync(binaries.relay, inRelay);
    copyFileSync(binaries.parley, inCli);
    return;
  }
  const { relay } = findTools();
  await run(['strip', '-o', inRelay, relay]);
  await run(['strip', '-o', inCli, join(dirname(relay), 'parley')]);
}

function destination(path: string): string {
  const file = inRepository(path);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

function imageValues(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([section, tag]) => `${section}: { image: { tag: '${tag}' } }\n`)
    .join('');
}
