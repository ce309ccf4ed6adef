/** What `parley doctor` finds about regions. */
import type { TestContext } from 'node:test';
import { Terminal } from '@parley/local/terminal';

export interface Report {
  readonly host: string;
  readonly with?: string;
  readonly ok: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly verdict: 'ok' | 'warn' | 'fail';
    readonly advice?: string;
  }[];
}

/** The exit of a doctor that found a failure. */
export const FOUND_FAILURE = 7;

/** One report for each host, then one for each direction between two. `into`: the beginning of a command that runs it elsewhere. */
export async function diagnose(
  t: TestContext,
  hosts: readonly string[],
  only: string,
  into: readonly string[] = [],
): Promise<{ reports: Report[]; exit: number | null }> {
  const doctor = Terminal.start(['doctor', ...hosts, '--insecure', '--json', '--only', only], into);
  t.after(() => doctor.child.kill('SIGKILL'));
  const reports: Report[] = [];
  for (let left = hosts.length * hosts.length; left > 0; left -= 1)
    reports.push(JSON.parse(await doctor.line('stdout')) as Report);
  return { reports, exit: await doctor.ends() };
}
