/** The NATS server that `make tools` has fetched, or `PARLEY_NATS_SERVER`. A missing server is a failure, never a skipped test. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

export function natsBinary(): string {
  const versions = new URL('../../../../../infra/local/versions.env', import.meta.url);
  const version = /^NATS_VERSION=(.+)$/m.exec(readFileSync(versions, 'utf8'))?.[1] ?? 'unknown';
  const cache = process.env['PARLEY_CACHE'] ?? path.join(homedir(), '.cache', 'parley');
  const fetched = path.join(cache, 'tools', `nats-server-${version}`, 'nats-server');
  const binary = process.env['PARLEY_NATS_SERVER'] ?? fetched;
  if (!existsSync(binary)) throw new Error(`${binary} does not exist: run infra/local/tools.sh`);
  return binary;
}
