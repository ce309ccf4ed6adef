/** The test files that a command runs: those that a script of a package.json names, and the files of Rust that a crate contains. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Page } from './rules.ts';

/** The arguments of `node --test` or `test-twice.ts`, up to the next command. */
const NODE_TEST = /\bnode (?:(?:--[\w-]+(?:=\S+)? )*--test\b|\S*\/test-twice\.ts\b)([^&|;]*)/g;
const ARGUMENT = /"([^"]+)"|'([^']+)'|(\S+)/g;
/** `${FAULT:-*}`: the value where the variable is not set. */
const DEFAULT = /\$\{\w+:-([^}]*)\}/g;

/** `packages`: the paths of the package.json files. */
export function runByNode(packages: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const path of packages) {
    const cwd = dirname(path);
    const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8')) as { scripts?: Record<string, string> };
    for (const [, given = ''] of Object.values(scripts).flatMap((script) => [...script.matchAll(NODE_TEST)]))
      for (const [, double, single, bare] of given.matchAll(ARGUMENT)) {
        const pattern = (double ?? single ?? bare ?? '').replaceAll(DEFAULT, '$1');
        if (pattern.startsWith('-')) continue;
        for (const file of globSync(pattern, { cwd })) found.add(join(cwd, file));
      }
  }
  return found;
}

/** The roots of crates, and every file that a `mod` names in one of them. */
export function inCrates(sources: readonly Page[]): Set<string> {
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  const found = new Set<string>();
  const add = (path: string): void => {
    const text = texts.get(path);
    if (text === undefined || found.has(path)) return;
    found.add(path);
    const name = basename(path, '.rs');
    const folder = dirname(path);
    const isRoot = name === 'mod' || isCrate(path);
    for (const [, given, module = ''] of text.matchAll(MODULE)) {
      if (given !== undefined) add(join(folder, given));
      for (const inside of isRoot ? [folder] : [join(folder, name)]) {
        add(join(inside, `${module}.rs`));
        add(join(inside, module, 'mod.rs'));
      }
    }
  };
  for (const path of texts.keys()) if (isCrate(path)) add(path);
  return found;
}

/** The places where Cargo looks for the root of a library, a binary, or a test. */
const isCrate = (path: string): boolean =>
  /(?:^|\/)(?:src\/(?:lib|main)|(?:src\/bin|tests|benches|examples)\/(?:[^/]+|[^/]+\/main))\.rs$/.test(path);

/** `mod name;`, and the path that an attribute gives it. */
const MODULE = /(?:#\[path = "([^"]+)"\]\s*)?^[ \t]*(?:pub(?:\([^)]*\))? )?mod (\w+);/gm;
