/**
 * A copy of the working tree outside the clone, in which files are mutated. It is kept between runs, and only files that differ are written, so that
 * Cargo compiles little again.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { mutate, type Mutant } from './mutant.ts';

const CACHE = process.env['PARLEY_CACHE'] ?? join(homedir(), '.cache/parley');
const MODULES = 'node_modules';

export class Copy {
  /** The top folder of the copy. */
  readonly path: string;
  readonly #root: string;
  readonly #lock: string;

  /** `root`: the clone. Throws where another run uses the copy. */
  constructor(root: string) {
    const name = createHash('sha256').update(root).digest('hex').slice(0, 12);
    this.#root = root;
    this.path = join(CACHE, 'mutants', name);
    this.#lock = `${this.path}.pid`;
    mkdirSync(this.path, { recursive: true });
    const owner = existsSync(this.#lock) ? Number(readFileSync(this.#lock, 'utf8')) : undefined;
    if (owner !== undefined && isAlive(owner))
      throw new Error(`process ${owner} tests mutants of this clone`);
    writeFileSync(this.#lock, String(process.pid));
  }

  close(): void {
    rmSync(this.#lock, { force: true });
  }

  /** Makes the copy equal to the clone, without what Git ignores. */
  sync(): void {
    const listed = filesOf(this.#root);
    for (const path of walk(this.path, '')) if (!listed.has(path)) rmSync(join(this.path, path));
    for (const path of listed) {
      const [from, to] = [join(this.#root, path), join(this.path, path)];
      if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) continue;
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
    }
    for (const path of listed) if (path.endsWith('package.json')) this.#linkModules(dirname(path));
  }

  /** Runs `during` while the mutated file is in the copy. */
  async with<Result>(mutant: Mutant, during: () => Promise<Result>): Promise<Result> {
    const path = join(this.path, mutant.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, mutate(text, mutant));
    try {
      return await during();
    } finally {
      writeFileSync(path, text);
    }
  }

  /** Links the installed packages, and the packages of the workspace to those of the copy. */
  #linkModules(folder: string): void {
    const from = join(this.#root, folder, MODULES);
    const to = join(this.path, folder, MODULES);
    rmSync(to, { recursive: true, force: true });
    if (existsSync(from)) this.#link(from, to);
  }

  #link(from: string, to: string): void {
    mkdirSync(to, { recursive: true });
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      const inside = entry.isSymbolicLink()
        ? relative(this.#root, resolve(from, readlinkSync(source)))
        : '..';
      if (entry.isDirectory() && entry.name.startsWith('@')) this.#link(source, target);
      else symlinkSync(inside.startsWith('..') ? source : join(this.path, inside), target);
    }
  }
}

function filesOf(root: string): Set<string> {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 } as const;
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], options);
  return new Set(listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path))));
}

function* walk(top: string, folder: string): Generator<string> {
  for (const entry of readdirSync(join(top, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) yield path;
    else if (entry.name !== MODULES) yield* walk(top, path);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
