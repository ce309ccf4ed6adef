/** Builds a release into a directory, and puts it into a registry, with signatures. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lab } from '../../infra/cluster/src/lab.ts';
import { compile, findPrebuilt, packProgram, writeHashes } from './binaries.ts';
import { packChart } from './chart.ts';
import { buildImages, type Image } from './images.ts';
import type { Options } from './options.ts';
import { describeBuild } from './provenance.ts';
import { pushChart, pushImage } from './registry.ts';
import { packReference, packSdk } from './sdk.ts';
import { openSigner } from './signatures.ts';
import type { Commit } from './sources.ts';

export interface Built {
  readonly directory: string;
  readonly images: readonly Image[];
  /** The packed chart. */
  readonly chart: string;
  /** The predicate of the provenance. */
  readonly provenance: string;
}

export interface Pushed {
  /** With their digests, in the order of the images that were built. */
  readonly images: readonly string[];
  readonly chart: string;
}

export interface Request {
  readonly options: Options;
  readonly commit: Commit;
  /** Absolute. What an earlier build of the same version left there is replaced. */
  readonly directory: string;
  /** Gets a line about each step. */
  readonly report: (line: string) => void;
}

/** Builds everything, and pushes nothing. */
export async function buildRelease(
  lab: Lab,
  { options, commit, directory, report }: Request,
): Promise<Built> {
  const startedOn = new Date().toISOString();
  mkdirSync(directory, { recursive: true });
  // Those for macOS come from another machine.
  for (const name of readdirSync(directory))
    if (!name.includes('-darwin-')) rmSync(join(directory, name), { recursive: true });
  const programs = [];
  for (const platform of options.platforms) {
    report(
      options.isPrebuilt
        ? `${platform}: taking the programs that are built`
        : `${platform}: compiling the programs`,
    );
    const compiled = options.isPrebuilt ? findPrebuilt(platform) : await compile(platform, options.profile);
    packProgram(compiled, { directory, version: options.version, commit });
    programs.push(compiled);
  }
  const withBases = programs.filter(
    ({ platform }) => options.bases === 'named' || platform === 'linux/amd64',
  );
  for (const { platform } of programs.filter((one) => !withBases.includes(one)))
    report(`${platform}: no images, as the substitutes of base images exist for linux/amd64 only`);
  if (withBases.length === 0)
    throw new Error('no image can be built for these platforms, and the chart names images');
  report('images: building, and listing what they contain');
  const images = await buildImages(lab, withBases, { options, commit, directory });
  const chart = await packChart(lab, { options, commit, images }, directory);
  await packSdk(options.version, directory);
  await packReference({ directory, version: options.version, commit });
  writeHashes(directory, 'SHA256SUMS');
  const times = { startedOn, finishedOn: new Date().toISOString() };
  const readFile = (file: string) => readFileSync(file, 'utf8');
  const statement = describeBuild({ options, commit }, { env: process.env, ...times, readFile });
  const provenance = join(directory, 'provenance.json');
  writeFileSync(provenance, `${JSON.stringify(statement, null, 2)}\n`);
  return { directory, images, chart, provenance };
}

/** Pushes and signs the images, and then the chart, which names them. */
export async function pushRelease(lab: Lab, built: Built, { options, report }: Request): Promise<Pushed> {
  const signer = await openSigner(lab, options);
  try {
    const images: string[] = [];
    for (const image of built.images) {
      const name = await pushImage(image, options);
      await signer.sign(name);
      for (const { sbom } of image.platforms) await signer.attest(name, 'spdxjson', sbom);
      await signer.attest(name, 'slsaprovenance1', built.provenance);
      report(`pushed and signed ${name}`);
      images.push(name);
    }
    const chart = await pushChart(lab, built.chart, options);
    await signer.sign(chart);
    await signer.attest(chart, 'slsaprovenance1', built.provenance);
    report(`pushed and signed ${chart}`);
    await signer.signFile(join(built.directory, 'SHA256SUMS'));
    await signer.writePublicKey(join(built.directory, 'cosign.pub'));
    return { images, chart };
  } finally {
    signer.close();
  }
}
