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
  const cache = join(cacheDir(env), 'tools');
  return {
    node: process.execPath,
    relay: findBuilt('parley-relay', 'build', env),
    natsServer: findNatsServer(env),
    envoy: find('envoy', join(cache, `envoy-${readVersions()['ENVOY_VERSION']}`), env),
    turnserver: find('turnserver', '/usr/bin', env),
  };
}

export function findNatsServer(env: NodeJS.ProcessEnv = process.env): string {
  const fetched = join(cacheDir(env), 'tools', `nats-server-${readVersions()['NATS_VERSION']}`);
  return find('nats-server', fetched, env);
}

/** What `make test-tools` fetches. */
export function findPrometheus(env: NodeJS.ProcessEnv = process.env): string {
  const fetched = join(cacheDir(env), 'tools', `prometheus-${readVersions()['PROMETHEUS_OLDEST']}`);
  return find('prometheus', fetched, env);
}

/** What `make test-stock` builds. */
export function findMoqCli(env: NodeJS.ProcessEnv = process.env): string {
  return find('moq', join(cacheDir(env), 'tools', `moq-cli-${readVersions()['MOQ_CLI_VERSION']}`), env);
}

/** What `infra/local/tools.sh livekit` builds, and no other version. */
export function findLiveKit(env: NodeJS.ProcessEnv = process.env): string {
  const fetched = join(cacheDir(env), 'tools', `livekit-server-${readVersions()['LIVEKIT_VERSION']}`);
  return find('livekit-server', fetched, {});
}

/** A program of the repository's crates. `target`: the target of the Makefile that builds it. */
export function findBuilt(
  program: string,
  target: 'build' | 'cli' | 'wan-link',
  env: NodeJS.ProcessEnv = process.env,
): string {
  const built = env['CARGO_TARGET_DIR'] ?? join(cacheDir(env), `target-${rustVersion()}`);
  const path = join(built, 'debug', program);
  if (!isExecutable(path)) throw new Error(`${program} is not built: run \`make ${target}\``);
  return path;
}

/** Where everything is kept that a clone need not make or fetch again. */
export function cacheDir(env: NodeJS.ProcessEnv): string {
  return env['PARLEY_CACHE'] ?? join(homedir(), '.cache/parley');
}

/** The versions of what tools.sh fetches, by their names in versions.env. */
export function readVersions(): Record<string, string> {
  const text = readFileSync(new URL('../versions.env', import.meta.url), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^([A-Z0-9_]+)=(.+)$/gm)].map(([, name, value]) => [name, value]),
  );
}

function rustVersion(): string {
  const text = readFileSync(inRepository('rust-toolchain.toml'), 'utf8');
  return /^channel = "(.+)"$/m.exec(text)?.[1] ?? '';
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
