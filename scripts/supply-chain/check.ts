/** Checks the npm packages, the base images and the workflows. `make check` runs it. */
import { readFileSync } from 'node:fs';
import { baseImagesOf, dockerfiles, faultsOf as faultsOfImages } from './base-images.ts';
import { faultsOf as faultsOfPackages, type Lock } from './packages.ts';
import { faultsOf as faultsOfWorkflow, targetsOf, workflows } from './workflows.ts';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
const targets = targetsOf(readFileSync('Makefile', 'utf8'));
const faults = [
  ...faultsOfPackages(lock),
  ...dockerfiles().flatMap((file) =>
    faultsOfImages(readFileSync(file, 'utf8')).map((fault) => `${file}: ${fault}`),
  ),
  ...workflows().flatMap((file) =>
    faultsOfWorkflow(readFileSync(file, 'utf8'), targets).map((fault) => `${file}: ${fault}`),
  ),
];

if (faults.length > 0) {
  console.error(`The supply chain:\n  ${faults.join('\n  ')}\nWhat is allowed: scripts/supply-chain`);
  process.exitCode = 1;
}

// Accepted, as their digests can only be read where registries are reached.
const bases = dockerfiles().flatMap((file) => baseImagesOf(readFileSync(file, 'utf8')));
const byTag = new Set(bases.filter(({ digest }) => digest === undefined).map(({ image }) => image));
if (byTag.size > 0)
  console.log(
    `Base images by tag, without a digest: ${[...byTag].join(', ')}. 'make pin-images' writes their digests.`,
  );
