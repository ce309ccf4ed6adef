/**
 * Writes into each Dockerfile the digest that its base images' tags stand for now: `make pin-images`, where the network reaches the
 * registries and skopeo or Docker is installed. It asks for the list of all platforms, so that the digest holds on each of them.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { baseImagesOf, dockerfiles, pinned } from './base-images.ts';

type Ask = (image: string) => {
  readonly command: readonly string[];
  readonly read: (answer: Buffer) => string;
};

/** A manifest's digest is the hash of its bytes, as skopeo gives them; Docker tells the digest itself. */
const ASK: readonly Ask[] = [
  (image) => ({
    command: ['skopeo', 'inspect', '--raw', `docker://${image}`],
    read: (manifest) => `sha256:${createHash('sha256').update(manifest).digest('hex')}`,
  }),
  (image) => ({
    command: ['docker', 'buildx', 'imagetools', 'inspect', '--format', '{{json .Manifest}}', image],
    read: (manifest) => (JSON.parse(manifest.toString()) as { digest: string }).digest,
  }),
];

function digestOf(image: string): string {
  for (const ask of ASK) {
    const {
      command: [program = '', ...args],
      read,
    } = ask(image);
    try {
      return read(execFileSync(program, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error('pin-images: install skopeo, or Docker with buildx');
}

const digests = new Map<string, string>();
for (const file of dockerfiles()) {
  let text = readFileSync(file, 'utf8');
  for (const { image } of baseImagesOf(text)) {
    const digest = digests.get(image) ?? digestOf(image);
    if (!digests.has(image)) console.log(`${image}@${digest}`);
    digests.set(image, digest);
    text = pinned(text, image, digest);
  }
  writeFileSync(file, text);
}
