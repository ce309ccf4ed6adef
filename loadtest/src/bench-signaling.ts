/** `npm run bench-signaling`: Parley's signaling beside two references, in one run, round by round. The README says what each row means. */
import { startBench } from './bench-run.ts';
import { digits } from './columns.ts';
import { checkOutEarlier, type EarlierCommit } from './earlier.ts';
import { startGenerator, type Generator } from './generator-process.ts';
import type { Job } from './job.ts';
import { PARLEY_LIMITS } from './limits.ts';
import { describe, describeMachine } from './machine.ts';
import { readNames, readNumber, readOptions } from './options.ts';
import { ROWS, withEarlier, type Row, type ServerName, type Variant } from './plan.ts';
import { plot } from './plot.ts';
import { stopAll } from './process.ts';
import { publish } from './publish.ts';
import { startParley, startReference, type Server, type StartOptions } from './servers.ts';
import { costOf, summarize, type Run } from './summary.ts';
import { changesOf, doubtsOf, panelOf, tableOf } from './table.ts';
import { judge, verdictText } from './verdict.ts';

const ROW_NAMES = ROWS.map(({ name }) => name);
/** The herd takes longer than all other rows. */
const DEFAULT_ROWS: readonly string[] = ROW_NAMES.filter((name) => name !== 'herd');
const ROUNDS = 3;

const USAGE = `usage: npm run bench-signaling -w loadtest -- [options]
  --herd          also the open-loop herd of 300 calls (another 5 minutes)
  --rows a,b      only these of ${ROW_NAMES.join(', ')}
  --rounds n      rounds of the first two rows (${ROUNDS})
  --before rev    rows 1 and 2 also with the pod of that commit, and the ratio to it
  --publish       write docs/evaluation/bench-signaling.{json,svg}
  --profile dir   write a CPU profile of each pod into dir; figures of such a run are no results`;

/** A warm-up round, so that no measured client runs code that is still being compiled. */
const WARM_UP_MS = 1000;

const options = readOptions(USAGE, {
  herd: { type: 'boolean', default: false },
  rows: { type: 'string' },
  rounds: { type: 'string' },
  before: { type: 'string' },
  publish: { type: 'boolean', default: false },
  profile: { type: 'string' },
});
const named = readNames(options.rows, { known: ROW_NAMES, defaults: DEFAULT_ROWS, usage: USAGE });
const names = options.herd ? [...named, 'herd'] : named;
const rounds = readNumber('--rounds', options.rounds, { otherwise: ROUNDS, min: 1, usage: USAGE });
const plan = options.before === undefined ? ROWS : withEarlier(ROWS, options.before);
const rows = plan.filter(({ name }) => names.includes(name));
let earlier: EarlierCommit | undefined;
// A server must not outlive a bench that was interrupted.
const bench = startBench(async () => {
  await stopAll();
  earlier?.remove();
});
const startOptions: StartOptions = { dir: bench.dir, profileTo: options.profile };
const machine = describeMachine();

console.log(describe(machine));
console.log(`Parley's limits raised for one generator behind one address:\n  ${limitsText()}`);
if (!names.includes('herd')) console.log('Row 4, the herd, is left out: --herd runs it.');
const generator = startGenerator();
const servers = new Map<ServerName, Server>();
const runs: Run[] = [];
let isClean = true;
try {
  for (const row of rows) await measure(row);
} finally {
  generator.close();
  for (const server of servers.values()) await server.close();
  earlier?.remove();
}
const summaries = rows.map((row) => summarize(row, runs));
for (const summary of summaries) console.log(`\n${tableOf(summary)}`);
console.log(
  `\nMedian (min-max) of the rounds; x naive is taken round by round. "others" is what else ran on this machine, in cores.`,
);
for (const line of summaries.flatMap(changesOf)) console.log(line);
for (const doubt of doubtsOf(summaries)) console.log(doubt);
if (options.publish && isClean && options.profile === undefined) {
  publish(
    'bench-signaling',
    { machine, limits: PARLEY_LIMITS, rows: summaries, runs },
    plot(summaries.map(panelOf), {
      label: 'Cost of signaling: Parley beside two references',
      foot: describe(machine),
    }),
  );
} else if (options.publish) console.log('Nothing is published: a run was void or failed, or was profiled.');
bench.end(isClean ? undefined : 'A run was void or failed: no result');

async function measure(row: Row): Promise<void> {
  console.log(`\n${row.title}`);
  if (row.name === 'memory') {
    for (const variant of row.variants) await measureFresh(row, variant, 1);
    return;
  }
  if (row.name === 'herd') {
    for (const variant of row.variants) await measureOnce(row, variant, 1);
    return;
  }
  for (const variant of row.variants) {
    if (variant.id === variant.server) await warmUp(variant);
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const variant of row.variants) await measureOnce(row, variant, round);
  }
}

/** Memory is measured in a process that has done nothing else. */
async function measureFresh(row: Row, variant: Variant, round: number): Promise<void> {
  const fresh = await startServer(variant.server);
  try {
    note(row, variant, round, await generator.run(jobFor(variant, fresh)));
  } finally {
    await fresh.close();
  }
}

async function measureOnce(row: Row, variant: Variant, round: number): Promise<void> {
  note(row, variant, round, await generator.run(jobFor(variant, await serverOf(variant.server))));
}

async function warmUp(variant: Variant): Promise<void> {
  const job = jobFor(variant, await serverOf(variant.server));
  await generator.run({ ...job, warmMs: 0, measureMs: WARM_UP_MS });
}

function jobFor({ load }: Variant, { dialect, targets, watched }: Server): Job {
  return { ...load, dialect, targets, watched };
}

async function serverOf(name: ServerName): Promise<Server> {
  const server = servers.get(name) ?? (await startServer(name));
  servers.set(name, server);
  return server;
}

async function startServer(name: ServerName): Promise<Server> {
  if (name === 'naive' || name === 'opaque') return startReference(`${name}-ws`, startOptions);
  if (name !== 'parley-before') return startParley(name === 'parley' ? 1 : 2, startOptions);
  earlier ??= await checkOutEarlier(options.before ?? 'HEAD', bench.dir);
  return startParley(1, { ...startOptions, earlier });
}

function note(
  row: Row,
  variant: Variant,
  round: number,
  outcome: Awaited<ReturnType<Generator['run']>>,
): void {
  const verdict = judge(outcome);
  isClean &&= verdict.verdict === 'valid';
  runs.push({ row: row.name, variant: variant.id, round, outcome, verdict });
  const text = verdictText(verdict) ?? `${digits(costOf(row, outcome, () => true))} ${row.unit}`;
  console.log(`  round ${round}  ${variant.label.padEnd(30)} ${text}`);
}

function limitsText(): string {
  return Object.entries(PARLEY_LIMITS)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n  ');
}
