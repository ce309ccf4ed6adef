/** The chart of a release: the one of the sources, with its version, and with the digests of its images. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sections, type OwnImage } from '../../infra/cluster/src/images.ts';
import type { Lab } from '../../infra/cluster/src/lab.ts';
import { run } from '../../infra/cluster/src/run.ts';
import { inRepository } from '../../infra/local/src/repository.ts';
import type { Options } from './options.ts';
import type { Commit } from './sources.ts';

export interface Release {
  readonly options: Options;
  readonly commit: Commit;
  readonly images: readonly { readonly name: OwnImage; readonly digest: string }[];
}

/** Packs the chart into the directory; answers the file. Its bytes depend on the release only. */
export async function packChart(lab: Lab, release: Release, directory: string): Promise<string> {
  const { options, commit } = release;
  const scratch = mkdtempSync(join(tmpdir(), 'parley-chart-'));
  try {
    const chart = join(scratch, 'parley');
    const from = inRepository('charts/parley');
    // The suites need helm-unittest and are for developers.
    cpSync(from, chart, { recursive: true, filter: (file) => file !== join(from, 'tests') });
    rewrite(join(chart, 'values.yaml'), (text) => withImages(text, release));
    rewrite(join(chart, 'Chart.yaml'), (text) => described(text, release));
    setTimes(chart, commit.time);
    const helm = join(lab.toolDir('helm', 'HELM_VERSION'), 'helm');
    const versions = ['--version', options.version, '--app-version', options.version];
    await run([helm, 'package', chart, ...versions, '--destination', directory]);
    const file = join(directory, `parley-${options.version}.tgz`);
    // Helm writes this time into the manifest of the chart in a registry.
    utimesSync(file, commit.time, commit.time);
    return file;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The values, with the registry and the digest of each of Parley's images. */
export function withImages(values: string, { options, images }: Release): string {
  let text = replaceOnce(values, /^ {2}registry: .+$/m, `  registry: ${options.registry}`);
  for (const { name, digest } of images) {
    const section = new RegExp(
      `^${sections[name]}:\\n(?:(?: .*|#.*)?\\n)*?  image:\\n(?:    .*\\n)*?    digest: ''$`,
      'm',
    );
    text = replaceOnce(text, section, (found) => found.replace(/''$/, `'${digest}'`));
  }
  return text;
}

/** The chart's description, with what Artifact Hub shows of a release. */
export function described(chart: string, { options, images }: Release): string {
  const { version, registry, source } = options;
  const list = images.map(
    ({ name, digest }) => `    - name: ${name}\n      image: ${registry}/${name}:${version}@${digest}\n`,
  );
  const prerelease = version.includes('-');
  const annotations = `  artifacthub.io/prerelease: '${prerelease}'\n  artifacthub.io/images: |\n${list.join('')}`;
  const links =
    source === undefined ? '' : `  artifacthub.io/links: |\n    - name: source\n      url: ${source}\n`;
  const text = replaceOnce(chart, /^annotations:\n/m, (found) => found + annotations + links);
  return source === undefined ? text : `${text}sources: ['${source}']\n`;
}

function replaceOnce(text: string, pattern: RegExp, by: string | ((found: string) => string)): string {
  if (!pattern.test(text)) throw new Error(`the chart has no ${pattern.source}`);
  return text.replace(pattern, (found) => (typeof by === 'string' ? by : by(found)));
}

function rewrite(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

/** Of all files and directories, to seconds since 1970. */
function setTimes(directory: string, time: number): void {
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    utimesSync(join(directory, entry), time, time);
}
