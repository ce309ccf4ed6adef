/** `parley-load` on its own core, with the processor time that other programs use meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { cacheDir } from '@parley/local/tools';
import { cpuOf, machineBusyMs } from '../cpu.ts';
import { onCore } from '../machine.ts';
import type { Outcome } from './outcome.ts';
import type { Profile } from './plan.ts';
import type { Server } from './servers.ts';

const GENERATOR_CORE = 1;
/** How often the machine's use is looked at; the last look before the generator ended counts. */
const LOOK_MS = 100;

/** One row against one server. */
export async function runRow(
  programs: string,
  { url, pid, headers }: Server,
  { row, profile }: { row: string; profile: Pick<Profile, 'warmSeconds' | 'seconds'> },
): Promise<Outcome> {
  const { answer, othersUse } = await runGenerator(
    programs,
    [pid],
    [
      'bench',
      '--json=-',
      `--row=${row}`,
      `--url=${url}`,
      `--pid=${pid}`,
      `--warm-up=${profile.warmSeconds}`,
      `--seconds=${profile.seconds}`,
      ...headers.map((line) => `--header=${line}`),
    ],
  );
  const [report] = answer as readonly Omit<Outcome, 'othersUse'>[];
  if (report === undefined) throw new Error(`parley-load has no row ${row}`);
  return { ...report, othersUse };
}

/** The JSON report that it writes. An inexact or void run writes one too. `isPinned: false`: on any core; `program`: another generator, beside it. */
export async function runGenerator(
  programs: string,
  serverPids: readonly number[],
  args: readonly string[],
  { isPinned = true, program = 'parley-load' }: { isPinned?: boolean; program?: string } = {},
): Promise<{ answer: unknown; othersUse: number }> {
  const plain = [join(programs, program), ...args];
  const [command = '', ...rest] = isPinned ? onCore(GENERATOR_CORE, plain) : plain;
  // Test videos lie there.
  const env = { ...process.env, PARLEY_CACHE: cacheDir(process.env) };
  const child = spawn(command, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const stdout = text(child.stdout);
  const stderr = text(child.stderr);
  const others = watchOthers([...serverPids, child.pid ?? 0]);
  await ended;
  const othersUse = others.close();
  const json = await stdout;
  if (json === '') throw new Error(`${program} ${args.join(' ')}: ${await stderr}`);
  return { answer: JSON.parse(json) as unknown, othersUse };
}

/** What programs besides these use, in cores. */
function watchOthers(pids: readonly number[]): { close(): number } {
  const look = () => ({
    at: performance.now(),
    othersMs: machineBusyMs() - pids.map(cpuOf).reduce((sum, cpu) => sum + cpu.userMs + cpu.systemMs, 0),
  });
  const first = look();
  let last = first;
  const timer = setInterval(() => {
    try {
      last = look();
    } catch {
      // It has ended: the look before counts.
      clearInterval(timer);
    }
  }, LOOK_MS);
  return {
    close() {
      clearInterval(timer);
      return Math.max(0, last.othersMs - first.othersMs) / Math.max(1, last.at - first.at);
    },
  };
}
