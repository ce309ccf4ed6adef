import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../src/ports.ts';
import { describeSite } from '../src/stack.ts';
import { readRecords, stopProcess } from '../src/supervise.ts';
import type { Site } from '../src/site.ts';

/** A test, or a file's own list of what to do at its end. */
interface Ends {
  after(work: () => unknown): void;
}

/** A directory for one test's stack. What still runs in it when the test ends is stopped. */
export function scratchDir(t: Ends): string {
  const dir = mkdtempSync(join(tmpdir(), 'parley-'));
  t.after(async () => {
    await Promise.all(readRecords(dir).map((record) => stopProcess(dir, record)));
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** What a stack's processes are made from, on free ports, with nothing started. */
export async function scratchSite(t: Ends, env: NodeJS.ProcessEnv = {}): Promise<Site> {
  return describeSite(scratchDir(t), await freePorts({}), env);
}
