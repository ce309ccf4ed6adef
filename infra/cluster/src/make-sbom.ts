/**
 * `make sbom`: builds Parley's images as the Kubernetes lab does, has syft write what each contains, and checks that nothing was
 * missed.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { save } from './buildah.ts';
import { buildOwnImages, ensureBases, type OwnImage } from './images.ts';
import { describeLab, type Lab } from './lab.ts';
import { run } from './run.ts';
import { componentsOf, faultsOf, requiredOf, type Sources, type SpdxDocument } from './sbom.ts';

const OUT = 'dist/sbom';

const MANIFESTS: Readonly<Partial<Record<OwnImage, string>>> = {
  signaling: 'services/signaling/package.json',
  turn: 'services/turn/package.json',
  web: 'client/web/package.json',
};

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

const sources: Sources = {
  crates: readFileSync('Cargo.lock', 'utf8'),
  npm: readJson('package-lock.json') as Sources['npm'],
  dependenciesOf(image) {
    const manifest = MANIFESTS[image];
    if (manifest === undefined) return [];
    const { dependencies } = readJson(manifest) as { dependencies: Record<string, string> };
    return Object.keys(dependencies);
  },
};

/** Builds, lists and checks every image; answers whether all of them hold what they must. */
async function makeAll(lab: Lab): Promise<boolean> {
  await ensureBases(lab);
  const images = await buildOwnImages(lab, 'sbom');
  mkdirSync(OUT, { recursive: true });
  printRow('image', 'Debian', 'npm', 'crates', 'file');
  let isComplete = true;
  for (const { name, id } of images) {
    const file = join(OUT, `${name}.spdx.json`);
    await list(lab, name, id, file);
    isComplete = report(name, file) && isComplete;
  }
  return isComplete;
}

/** Writes the document of an image. */
async function list(lab: Lab, name: OwnImage, id: string, file: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-sbom-'));
  try {
    const archive = join(scratch, 'image.tar');
    await save(lab, id, archive);
    const syft = join(lab.toolDir('syft', 'SYFT_VERSION'), 'syft');
    const subject = ['--source-name', `ghcr.io/parley/${name}`, '--source-version', id];
    const command = [
      'scan',
      '--quiet',
      ...subject,
      '--output',
      `spdx-json=${file}`,
      `oci-archive:${archive}`,
    ];
    await run([syft, ...command], { SYFT_CHECK_FOR_APP_UPDATE: 'false' });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Prints the numbers and gaps of the document; answers whether it has no gaps. */
function report(image: OwnImage, file: string): boolean {
  const components = componentsOf(readJson(file) as SpdxDocument);
  const faults = faultsOf(components, requiredOf(image, sources));
  const count = (type: string) => String(components.filter((one) => one.type === type).length);
  printRow(image, count('deb'), count('npm'), count('cargo'), file);
  for (const fault of faults) console.error(`${image}: ${fault}`);
  return faults.length === 0;
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
