/**
 * Many holders of one page, as the original had at its peak. `parley-load pages` generates the load on a stack of its own and reads the
 * memory of its pods. No content moves.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@parley/local/stack';
import { runGenerator } from '../streams/generator.ts';

export interface Holders {
  readonly visitors: number;
  readonly perSecond: number;
  /** Of both pods together, without holders and with all of them. */
  readonly idleKb: number;
  readonly fullKb: number;
  /** Until all have the exact count, since each visitor came. */
  readonly messagesPerVisitor: number;
  readonly bytesPerVisitor: number;
  /** The number of messages if each arrival were sent to all. */
  readonly messagesNaively: number;
  /** After the last arrival, and after half have left: until the last of those present received the exact count. */
  readonly exactMs: readonly [number, number];
  readonly wrong: string | undefined;
}

/** The fields of the report of `parley-load pages` that the bench reads. */
export interface Report {
  readonly came: Stage;
  readonly went: Stage;
  /** How often each error occurred. */
  readonly errors: Readonly<Record<string, number>>;
  /** Sockets that a pod closed or lost. */
  readonly closed: number;
  readonly memory: { readonly beforeKb: number; readonly withKb: number };
  readonly exact: boolean;
}

interface Stage {
  /** Present at its end. */
  readonly visitors: number;
  /** Without the exact count after `LATE_MS`, and those of them that never received it. */
  readonly late: number;
  readonly never: number;
  readonly exactMs: { readonly max: number };
  /** Per visitor. */
  readonly received: number;
  readonly receivedBytes: number;
}

export interface Load {
  readonly visitors: number;
  readonly perSecond: number;
}

/** The exact count must arrive within this time. */
const LATE_MS = 2000;
/** Garbage collection releases memory within this time. */
const REST_SECONDS = 8;
const PAGE_BYTES = 100_000;

/** With visitors spread over both pods of the stack. `programs`: the directory of `parley-load`. */
export async function measureHolders(programs: string, load: Load): Promise<Holders> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-bench-pages-'));
  const stack = await startStack({
    dir,
    env: { PARLEY_LIMIT_ADDRESS_SOCKETS: String(2 * load.visitors), PARLEY_LIMIT_ADDRESS_PAGES: '1000000' },
  });
  try {
    const { pods, processes } = stack.endpoints;
    const pids = ['signaling-1', 'signaling-2'].map((name) => processes[name]?.pid ?? 0);
    const pages = async (flags: readonly string[]): Promise<Report> => {
      const args = ['pages', ...pods, '--json=-', `--bytes=${PAGE_BYTES}`, `--per-second=${load.perSecond}`];
      const { answer } = await runGenerator(programs, pids, [...args, ...flags], { isPinned: false });
      return answer as Report;
    };
    // The first visitor of a pod makes it compile code and allocate tables, which is not the cost of a visitor.
    const first = await pages([`--holders=${pods.length}`, '--for=0']);
    if (!first.exact) throw new Error(`the first visitors: ${JSON.stringify(first)}`);
    const report = await pages([
      `--holders=${load.visitors}`,
      `--depart=${departing(load)}`,
      `--late=${LATE_MS}`,
      `--for=${REST_SECONDS}`,
      `--pid=${pids.join(',')}`,
    ]);
    return holdersOf(report, load);
  } finally {
    await stack.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

const departing = ({ visitors }: Load): number => Math.floor(visitors / 2);

/** The figures of the bench from the report of the load. */
export function holdersOf(report: Report, load: Load): Holders {
  const { came, went, memory } = report;
  return {
    ...load,
    idleKb: memory.beforeKb,
    fullKb: memory.withKb,
    messagesPerVisitor: came.received,
    bytesPerVisitor: came.receivedBytes,
    messagesNaively: (load.visitors + 1) / 2,
    exactMs: [came.exactMs.max, went.exactMs.max],
    wrong: wrongOf(report, load),
  };
}

/** Why the count is not exact for all visitors; `undefined` where it is. */
function wrongOf({ came, went, errors, closed, exact }: Report, load: Load): string | undefined {
  const wrong = Object.entries(errors).map(([error, times]) => `${times} times: ${error}`);
  if (closed > 0) wrong.push(`${closed} sockets were closed`);
  const stages = [
    { name: 'after all came', stage: came, expected: load.visitors },
    { name: 'after half left', stage: went, expected: load.visitors - departing(load) },
  ];
  for (const { name, stage, expected } of stages) {
    if (stage.visitors !== expected) wrong.push(`${stage.visitors} of ${expected} visitors ${name}`);
    if (stage.late > 0)
      wrong.push(
        `${stage.late} visitors without the exact count ${LATE_MS} ms ${name}, ${stage.never} never`,
      );
  }
  if (!exact && wrong.length === 0) wrong.push('the count was not exact');
  return wrong.length === 0 ? undefined : wrong.join('; ');
}
