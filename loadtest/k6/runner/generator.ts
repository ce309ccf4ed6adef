/** k6 as a child process: where it is, when its herd begins, what it complains about, and its summary. */
import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** One metric of k6's summary: its figures, and each of its thresholds with whether it held. */
export interface Metric {
  readonly values: Readonly<Record<string, number>>;
  readonly thresholds?: Readonly<Record<string, { readonly ok: boolean }>>;
}
export type Metrics = Readonly<Record<string, Metric>>;

export interface Generator {
  readonly pid: number;
  /** When the herd begins, Unix ms. Rejects where k6 ends before. */
  readonly begun: Promise<number>;
  /** k6's exit code: 0, 99 where a threshold was crossed, or another where it could not do its work. */
  readonly ended: Promise<number>;
  kill(): void;
}

export interface GeneratorOptions {
  /** The script, in `k6/`. */
  readonly script?: string;
  readonly profile: string;
  /** The edge; several with commas between them. */
  readonly site: string;
  /** Further variables of the script. */
  readonly env?: Readonly<Record<string, string>>;
  readonly summaryPath: string;
}

/** A thousand VUs are a large heap: collected as often as usual, it takes the time that the herd needs. */
const GARBAGE_PERCENT = '400';
/** A herd that is refused complains thousands of times; the codes are counted in any case. */
const COMPLAINTS_SHOWN = 10;
/** k6: "some thresholds have failed". */
export const THRESHOLD_EXIT_CODE = 99;

export function startGenerator({
  script = 'herd.js',
  profile,
  site,
  summaryPath,
  env: more = {},
}: GeneratorOptions): Generator {
  const env = { HERD_PROFILE: profile, HERD_SITE: site, HERD_SUMMARY: summaryPath, ...more };
  const scenario = fileURLToPath(new URL(`../${script}`, import.meta.url));
  // Without an address: k6 would serve its own interface on a fixed port.
  const flags = ['--quiet', '--no-usage-report', '--no-color', '--log-format', 'raw', '--address', ''];
  const child = spawn(findK6(), ['run', ...flags, scenario], {
    env: { GOGC: GARBAGE_PERCENT, ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (child.pid === undefined) throw new Error('k6 could not be started');
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code) => resolve(code ?? 1));
  });
  const begun = new Promise<number>((resolve, reject) => {
    let complaints = 0;
    createInterface({ input: child.stderr }).on('line', (line) => {
      const moment = /^herd begins at (\d+)$/.exec(line)?.[1];
      if (moment !== undefined) return resolve(Number(moment));
      complaints += 1;
      if (complaints <= COMPLAINTS_SHOWN) console.log(`  k6: ${line}`);
      if (complaints === COMPLAINTS_SHOWN + 1) console.log('  k6: … (and more)');
    });
    void ended.then((code) => reject(new Error(`k6 ended with ${code} before the herd began`)));
  });
  return { pid: child.pid, begun, ended, kill: () => child.kill('SIGKILL') };
}

export function readMetrics(summaryPath: string): Metrics {
  return JSON.parse(readFileSync(summaryPath, 'utf8')) as Metrics;
}

/** That of `infra/local/versions.env`. */
export function k6Version(): string {
  const versions = readFileSync(new URL('../../../infra/local/versions.env', import.meta.url), 'utf8');
  const version = /^K6_VERSION=(.+)$/m.exec(versions)?.[1];
  if (version === undefined) throw new Error('infra/local/versions.env has no K6_VERSION');
  return version;
}

/** Where `infra/local/tools.sh load` puts it, or on the PATH. */
export function findK6(): string {
  const version = k6Version();
  const cache = process.env['PARLEY_CACHE'] ?? join(homedir(), '.cache/parley');
  const places = [join(cache, 'tools', `k6-${version}`), ...(process.env['PATH'] ?? '').split(delimiter)];
  for (const place of places) {
    const path = join(place, 'k6');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The next place may have it.
    }
  }
  throw new Error('k6 is not installed: run infra/local/tools.sh load');
}
