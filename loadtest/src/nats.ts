/** A NATS server for the measured servers. */
import type { ChildProcess } from 'node:child_process';
import { accessSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@parley/local/free-port';
import { HOST, canConnect, start, until } from './process.ts';

/** With JetStream. `dir`: where its log and its files go. */
export async function startNats(
  dir: string,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const port = await freePort();
  const args = ['-a', HOST, '-p', String(port), '-js', '-sd', join(dir, `jetstream-${port}`)];
  const child = start(findNats(), args, { log: join(dir, 'nats.log'), env: {} });
  await until(() => canConnect({ host: HOST, port }), child, 'nats-server');
  return { child, url: `nats://${HOST}:${port}` };
}

/** Where infra/local/tools.sh puts it. */
function findNats(): string {
  const versions = readFileSync(new URL('../../infra/local/versions.env', import.meta.url), 'utf8');
  const version = /^NATS_VERSION=(.+)$/m.exec(versions)?.[1] ?? '';
  const cache = process.env['PARLEY_CACHE'] ?? join(homedir(), '.cache/parley');
  const path = join(cache, 'tools', `nats-server-${version}`, 'nats-server');
  try {
    accessSync(path);
    return path;
  } catch {
    throw new Error(`no nats-server at ${path}: run infra/local/tools.sh`);
  }
}
