/**
 * `make sbom`: builds Parley's images as the Kubernetes lab does, has syft write what each contains, and checks that nothing was
 * missed.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { listContents, type Contents } from './contents.ts';
import { buildOwnImages, ensureBases } from './images.ts';
import { describeLab, type Lab } from './lab.ts';

const OUT = 'dist/sbom';

/** Builds, lists and checks every image; answers whether all of them hold what they must. */
async function makeAll(lab: Lab): Promise<boolean> {
  await ensureBases(lab);
  const images = await buildOwnImages(lab, 'sbom');
  mkdirSync(OUT, { recursive: true });
  printRow('image', 'Debian', 'npm', 'crates', 'file');
  let isComplete = true;
  for (const image of images) {
    const file = join(OUT, `${image.name}.spdx.json`);
    const { components, faults } = await listContents(lab, image, file);
    const count = countIn(components);
    printRow(image.name, count('deb'), count('npm'), count('cargo'), file);
    for (const fault of faults) console.error(`${image.name}: ${fault}`);
    isComplete &&= faults.length === 0;
  }
  return isComplete;
}

function countIn(components: Contents['components']): (type: string) => string {
  return (type) => String(components.filter((one) => one.type === type).length);
}

function printRow(image: string, debian: string, npm: string, crates: string, file: string): void {
  console.log(`${image.padEnd(10)} ${debian.padStart(6)} ${npm.padStart(5)} ${crates.padStart(6)}  ${file}`);
}

try {
  if (process.getuid?.() !== 0) throw new Error('images are built by root: sudo make sbom');
  process.exitCode = (await makeAll(describeLab(process.env))) ? 0 : 1;
} catch (error) {
  console.error(`make sbom: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
