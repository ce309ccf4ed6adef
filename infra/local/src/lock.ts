import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from './files.ts';
import { identify, isAlive, type Identity } from './identity.ts';

/**
 * Does the work while no other process changes the stack in this directory. Two `make up` at once would start everything
 * twice. The lock of a process that has ended is taken over.
 */
export async function whileLocked<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, 'lock');
  take(path);
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function take(path: string): void {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify(identify(process.pid)));
  try {
    if (link(own, path)) return;
    const text = readIfThere(path);
    const holder = text === undefined ? undefined : (JSON.parse(text) as Identity);
    if (holder && isAlive(holder)) {
      throw new Error(`process ${holder.pid} is changing the stack just now: wait for it to end`);
    }
    rmSync(path, { force: true });
    if (!link(own, path))
      throw new Error('another process is changing the stack just now: wait for it to end');
  } finally {
    rmSync(own, { force: true });
  }
}

/** Creates the link with its complete content or not at all; answers false if the name exists. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
