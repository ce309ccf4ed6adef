import { mkdirSync, readFileSync } from 'node:fs';
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
const sections: Readonly<Record<OwnImage, string>> = {
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

/** Builds Parley's own images from the last compiled binaries. The base images have to exist. */
export async function buildOwnImages(
  lab: Lab,
  tag: string,
): Promise<readonly { readonly name: OwnImage; readonly id: string }[]> {
  const { relay } = findTools();
  await pack(relay, 'services/relay/dist/parley-relay');
  await pack(join(dirname(relay), 'parley'), 'client/cli/dist/parley');
  const built: { name: OwnImage; id: string }[] = [];
  for (const name of Object.keys(own) as OwnImage[]) {
    const dockerfile = inRepository(own[name].dockerfile);
    const args = { ...standInBases(readFileSync(dockerfile, 'utf8')), ...own[name].args };
    const context = inRepository('');
    const id = await build(lab, { tag: `ghcr.io/parley/${name}:${tag}`, dockerfile, context, args });
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

/** The binaries of `make build`, without debug information. */
async function pack(binary: string, to: string): Promise<void> {
  const file = inRepository(to);
  mkdirSync(dirname(file), { recursive: true });
  await run(['strip', '-o', file, binary]);
}

function imageValues(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([section, tag]) => `${section}: { image: { tag: '${tag}' } }\n`)
    .join('');
}
