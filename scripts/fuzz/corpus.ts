/** The inputs that a target keeps: those that once failed, and those that lead far into its decoder. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const NAME_DIGITS = 16;

/** `file`: of the targets. */
const folderOf = (file: string, target: string): string => join(dirname(file), 'corpus', target);

export interface Kept {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export function readCorpus(file: string, target: string): readonly Kept[] {
  const folder = folderOf(file, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(folder, name))) }));
}

/** Where it is kept, under its hash. */
export function keep(file: string, target: string, input: Uint8Array): string {
  const folder = folderOf(file, target);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, createHash('sha256').update(input).digest('hex').slice(0, NAME_DIGITS));
  writeFileSync(path, input);
  return path;
}
