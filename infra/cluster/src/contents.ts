/** Lists what is in an image, as a software bill of materials, and checks that nothing was missed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRepository } from '@parley/local/repository';
import { save } from './buildah.ts';
import type { OwnImage } from './images.ts';
import type { Lab } from './lab.ts';
import { run } from './run.ts';
import {
  componentsOf,
  faultsOf,
  requiredOf,
  type Component,
  type Sources,
  type SpdxDocument,
} from './sbom.ts';

const MANIFESTS: Readonly<Partial<Record<OwnImage, string>>> = {
  signaling: 'services/signaling/package.json',
  turn: 'services/turn/package.json',
  web: 'client/web/package.json',
};

export interface Contents {
  readonly components: readonly Component[];
  /** A sentence for each component that the image must have and the list lacks. */
  readonly faults: readonly string[];
}

/** Has syft write the SPDX document of an image to the file, and reads it. */
export async function listContents(
  lab: Lab,
  { name, id }: { readonly name: OwnImage; readonly id: string },
  file: string,
): Promise<Contents> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-sbom-'));
  try {
    const archive = join(scratch, 'image.tar');
    await save(lab, id, archive);
    const subject = ['--source-name', `ghcr.io/parley/${name}`, '--source-version', id];
    const output = ['--output', `spdx-json=${file}`, `oci-archive:${archive}`];
    const syft = join(lab.toolDir('syft', 'SYFT_VERSION'), 'syft');
    await run([syft, 'scan', '--quiet', ...subject, ...output], { SYFT_CHECK_FOR_APP_UPDATE: 'false' });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const components = componentsOf(readJson(file) as SpdxDocument);
  return { components, faults: faultsOf(components, requiredOf(name, readSources())) };
}

function readSources(): Sources {
  return {
    crates: readFileSync(inRepository('Cargo.lock'), 'utf8'),
    npm: readJson(inRepository('package-lock.json')) as Sources['npm'],
    dependenciesOf(image) {
      const manifest = MANIFESTS[image];
      if (manifest === undefined) return [];
      const { dependencies } = readJson(inRepository(manifest)) as { dependencies: Record<string, string> };
      return Object.keys(dependencies);
    },
  };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
