/** The commands of docs/operations/backup.md, as they stand there. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import { inRepository } from '@parley/local/repository';

/** A port that is forwarded and a pod that ends take seconds each. */
const TIMEOUT_MS = 300_000;

/** Runs a block of commands in a directory, which keeps the backup, and in a namespace, as that of the current context. */
export function runDocumented(block: 'backup' | 'restore', { dir, at }: { dir: string; at: string }): string {
  const page = readFileSync(inRepository('docs/operations/backup.md'), 'utf8');
  const commands = page.split('```sh ' + block + '\n')[1]?.split('```')[0];
  assert.ok(commands);
  const KUBECONFIG = join(dir, 'kubeconfig');
  copyFileSync(process.env['KUBECONFIG'] ?? '', KUBECONFIG);
  const env = { ...process.env, KUBECONFIG };
  const options = { cwd: dir, env, encoding: 'utf8', timeout: TIMEOUT_MS } as const;
  const script = `set -euo pipefail\nkubectl config set-context --current --namespace=${at} >/dev/null\n${commands}`;
  const ended = spawnSync('bash', ['-c', script], options);
  assert.equal(ended.status, 0, `${block}: ${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}
