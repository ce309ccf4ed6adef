import { accessSync, constants, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { inRepository } from './repository.ts';

/** Where the programs are that the stack runs. */
export interface Tools {
  readonly node: string;
  readonly natsServer: string;
  readonly envoy: string;
  readonly turnserver: string;
  readonly relay: string;
}

/** Finds the tools that tools.sh installed and the relay that `make build` built; the error names the command to run. */
export function findTools(env: NodeJS.ProcessEnv = process.env): Tools {
  const versions = readVersions();
  const parleyCache = cacheDir(env);
  const cache = join(parleyCache, 'tools');
  return {
    node: process.execPath,
    relay: findRelay(env['CARGO_TARGET_DIR'] ?? join(parleyCache, `target-${rustVersion()}`)),
    natsServer: find('nats-server', join(cache, `nats-server-${versions['NATS_VERSION']}`), env),
    envoy: find('envoy', join(cache, `envoy-${versions['ENVOY_VERSION']}`), env),
    turnserver: find('turnserver', '/usr/bin', env),
  };
}

/** Where everything is kept that a clone need not make or fetch again. */
export function cacheDir(env: NodeJS.ProcessEnv): string {
  return env['PARLEY_CACHE'] ?? join(homedir(), '.cache/parley');
}

/** The versions of what tools.sh fetches, by their names in versions.env. */
export function readVersions(): Record<string, string> {
  const text = readFileSync(new URL('../versions.env', import.meta.url), 'utf8');
  return Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.+)$/gm)].map(([, name, value]) => [name, value]));
}

function rustVersion(): string {
  const text = readFileSync(inRepository('rust-toolchain.toml'), 'utf8');
  return /^channel = "(.+)"$/m.exec(text)?.[1] ?? '';
}

function findRelay(target: string): string {
  const relay = join(target, 'debug/parley-relay');
  if (!isExecutable(relay)) throw new Error('the relay is not built: run `make build`');
  return relay;
}

function find(program: string, first: string, env: NodeJS.ProcessEnv): string {
  const places = [first, ...(env['PATH'] ?? '').split(delimiter)].map((dir) => join(dir, program));
  const found = places.find(isExecutable);
  if (found === undefined) throw new Error(`${program} is not installed: run infra/local/tools.sh`);
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
