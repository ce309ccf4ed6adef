/** The clone that a release is built from. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Sources } from './options.ts';

/** The commit that is checked out. */
export interface Commit {
  readonly revision: string;
  /** Seconds since 1970: the time of every file that a release packs, so that packing again gives the same bytes. */
  readonly time: number;
}

export function readSources(): Sources {
  return { version: commonVersion(readFileSync), changed: changedFiles() };
}

export function readCommit(): Commit {
  return { revision: git('rev-parse', 'HEAD').trim(), time: Number(git('log', '-1', '--format=%ct')) };
}

/** The version in the manifests; throws unless it is the same in all of them. */
export function commonVersion(read: (file: string, encoding: 'utf8') => string): string {
  const versions = Object.entries({
    'Cargo.toml': /^version = "(.+)"$/m,
    'package.json': /^ {2}"version": "(.+)"/m,
    'client/sdk/package.json': /^ {2}"version": "(.+)"/m,
    'charts/parley/Chart.yaml': /^version: (.+)$/m,
  }).map(([file, pattern]) => [file, pattern.exec(read(file, 'utf8'))?.[1] ?? 'none'] as const);
  const [first, ...others] = new Set(versions.map(([, version]) => version));
  if (first === undefined || others.length > 0)
    throw new Error(
      `these manifests differ in their version: ${versions.map((pair) => pair.join(' ')).join(', ')}`,
    );
  return first;
}

function changedFiles(): string[] {
  return git('status', '--porcelain')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [line.slice(3)]));
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' });
}
