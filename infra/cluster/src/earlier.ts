import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from '@parley/local/repository';
import type { Lab } from './lab.ts';
import { helm, type Chart } from './release.ts';
import { run } from './run.ts';

const chartPath = 'charts/parley';
const valuesPath = 'infra/cluster/values.yaml';

/**
 * The chart as it was before its last change, packed as a release would be, and the lab's values of that time. Rejects if
 * the history of the clone is too short.
 */
export async function packEarlierChart(lab: Lab): Promise<Chart> {
  const commit = await commitBefore();
  const dir = join(lab.dir, 'earlier');
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const archive = join(dir, 'chart.tar');
  await git('archive', `--output=${archive}`, commit, chartPath, valuesPath);
  await run(['tar', '--extract', '--file', archive, '--directory', dir]);
  await helm(lab, 'package', join(dir, chartPath), '--destination', dir);
  const packed = readdirSync(dir).find((name) => name.endsWith('.tgz')) ?? '';
  return { chart: join(dir, packed), values: join(dir, valuesPath) };
}

/** HEAD if the chart has uncommitted changes, otherwise the commit before the last one that changed it. */
async function commitBefore(): Promise<string> {
  if ((await git('status', '--porcelain', '--', chartPath)) !== '') return git('rev-parse', 'HEAD');
  const last = await git('log', '--max-count=1', '--format=%H', '--', chartPath);
  return git('rev-parse', '--verify', `${last}~1`).catch((error: unknown) => {
    throw new Error(
      `the chart was changed last in ${last}, and this clone does not hold the commit before: git fetch --unshallow`,
      { cause: error },
    );
  });
}

async function git(...args: string[]): Promise<string> {
  return (await run(['git', '-C', inRepository(''), ...args])).trim();
}
