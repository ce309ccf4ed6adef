/** `npm run bench-signaling`: Parley's signaling beside three references, in one run, round by round. The README says what each row means. */
import { startBench } from './bench-run.ts';
import { BUDGETS } from './budget.ts';
import { digits } from './columns.ts';
import { checkOutEarlier, type EarlierCommit } from './earlier.ts';
import { startGenerator } from './generator-process.ts';
import { judgeBudget } from './gate.ts';
import type { Job, Outcome } from './job.ts';
import { PARLEY_LIMITS } from './limits.ts';
import { describe, describeMachine } from './machine.ts';
import { readNames, readNumber, readOptions, refuse } from './options.ts';
import { EARLIER, ROWS, onlyBudgeted, withEarlier, type Row, type ServerName, type Variant } from './plan.ts';
import { plot } from './plot.ts';
import { stopAll } from './process.ts';
import { publish } from './publish.ts';
import { startParley, startReference, type Server, type StartOptions } from './servers.ts';
import { costOf, summarize, type Run } from './summary.ts';
import { changesOf, doubtsOf, panelOf, tableOf } from './table.ts';
import { QUIET_CORES, judge, verdictText } from './verdict.ts';

const ROW_NAMES = ROWS.map(({ name }) => name);
/** The herd takes longer than all other rows. */
const DEFAULT_ROWS: readonly string[] = ROW_NAMES.filter((name) => name !== 'herd');
const ROUNDS = 3;
const GATE_ROUNDS = 4;
/** How many rounds of a row may be run again because a run was void or the machine was not quiet. */
const REPEATS = 3;

const USAGE = `usage: npm run bench-signaling -w loadtest -- [options]
  --herd          also the open-loop herd of 300 calls (another 5 minutes)
  --rows a,b      only these of ${ROW_NAMES.join(', ')}
  --rounds n      rounds of the first three rows (${ROUNDS}, for the gate ${GATE_ROUNDS})
  --before rev    rows 1 and 2 also with the pods of that commit, and the ratio to them
  --gate          only what has a budget (src/budget.ts), in a good minute; fails where a ratio exceeds it
  --publish       write docs/evaluation/bench-signaling.{json,svg}
  --profile dir   write a CPU profile of each pod into dir; figures of such a run are no results`;

/** A warm-up round, so that no measured client runs code that is still being compiled. */
const WARM_UP_MS = 1000;

const options = readOptions(USAGE, {
  herd: { type: 'boolean', default: false },
  rows: { type: 'string' },
  rounds: { type: 'string' },
  before: { type: 'string' },
  gate: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  profile: { type: 'string' },
});
if (options.gate && (options.publish || options.herd || options.rows || options.before || options.profile))
  refuse('--gate measures its own rows: of the other options, only --rounds goes with it', USAGE);
const named = readNames(options.rows, { known: ROW_NAMES, defaults: DEFAULT_ROWS, usage: USAGE });
const names = options.herd ? [...named, 'herd'] : named;
const rounds = readNumber('--rounds', options.rounds, {
  otherwise: options.gate ? GATE_ROUNDS : ROUNDS,
  min: 1,
  usage: USAGE,
});
const rows = rowsToMeasure();
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
if (!options.gate && !names.includes('herd')) console.log('Row 4, the herd, is left out: --herd runs it.');
const generator = startGenerator();
const servers = new Map<ServerName, Server>();
const runs: Run[] = [];
/** Of rounds that were run again. */
const disturbed: Run[] = [];
try {
  for (const row of rows) await measure(row);
} finally {
  generator.close();
  for (const server of servers.values()) await server.close();
  // Also one whose start failed.
  await stopAll();
  earlier?.remove();
}
const isClean = runs.every(({ verdict }) => verdict.verdict === 'valid');
const summaries = rows.map((row) => summarize(row, runs));
for (const summary of summaries) console.log(`\n${tableOf(summary)}`);
console.log(
  `\nMedian (min-max) of the rounds; ratios and differences are taken round by round. "others" is what else ran on this machine, in cores.`,
);
for (const line of summaries.flatMap(changesOf)) console.log(line);
for (const doubt of doubtsOf(summaries)) console.log(doubt);
if (options.publish && isClean && options.profile === undefined) {
  publish(
    'bench-signaling',
    { machine, limits: PARLEY_LIMITS, rows: summaries, runs, disturbed },
    plot(summaries.map(panelOf), {
      label: 'Cost of signaling: Parley beside three references',
      foot: describe(machine),
    }),
  );
} else if (options.publish) console.log('Nothing is published: a run was void or failed, or was profiled.');
const budgets = options.gate ? BUDGETS.map((budget) => judgeBudget(budget, summaries)) : [];
for (const { text } of budgets) console.log(text);
const isOver = budgets.some(({ isKept }) => !isKept);
bench.end(isClean ? (isOver ? 'A budget was exceeded' : undefined) : 'A run was void or failed: no result');

function rowsToMeasure(): readonly Row[] {
  if (options.gate) return onlyBudgeted(ROWS, BUDGETS);
  const plan = options.before === undefined ? ROWS : withEarlier(ROWS, options.before);
  return plan.filter(({ name }) => names.includes(name));
}

async function measure(row: Row): Promise<void> {
  console.log(`\n${row.title}`);
  const isOnce = row.name === 'herd';
  if (row.name === 'join' || row.name === 'directed') await warmUp(row);
  let repeats = 0;
  for (let round = 1; round <= (isOnce ? 1 : rounds); round += 1) {
    const tries: Run[] = [];
    for (const variant of row.variants) tries.push(await measureOnce(row, variant, round));
    if (isOnce || repeats === REPEATS || !tries.some(isDisturbed)) runs.push(...tries);
    else {
      // Only the generator and other programs decide, not the figure.
      disturbed.push(...tries);
      repeats += 1;
      round -= 1;
      console.log('  a run was void, or the machine was not quiet: once more');
    }
  }
}

/** Other programs do not change how much memory a server takes. */
function isDisturbed({ row, outcome, verdict }: Run): boolean {
  const isQuiet = row === 'memory' || outcome.spent.othersUse <= QUIET_CORES;
  return verdict.verdict === 'void' || !isQuiet;
}

async function warmUp(row: Row): Promise<void> {
  for (const variant of row.variants) {
    if (variant.id !== variant.server) continue;
    const job = jobFor(variant, await serverOf(variant.server));
    await generator.run({ ...job, warmMs: 0, measureMs: WARM_UP_MS });
  }
}

async function measureOnce(row: Row, variant: Variant, round: number): Promise<Run> {
  const outcome = await (row.name === 'memory' ? runFresh(variant) : runKept(variant));
  const verdict = judge(outcome);
  const text = verdictText(verdict) ?? `${digits(costOf(row, outcome, () => true))} ${row.unit}`;
  console.log(`  round ${round}  ${variant.label.padEnd(30)} ${text}`);
  return { row: row.name, variant: variant.id, round, outcome, verdict };
}

async function runKept(variant: Variant): Promise<Outcome> {
  return generator.run(jobFor(variant, await serverOf(variant.server)));
}

/** Memory is measured in a process that has done nothing else. */
async function runFresh(variant: Variant): Promise<Outcome> {
  const fresh = await startServer(variant.server);
  try {
    return await generator.run(jobFor(variant, fresh));
  } finally {
    await fresh.close();
  }
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
  if (name === 'naive' || name === 'opaque' || name === 'equal') return startReference(name, startOptions);
  const pods = name.startsWith('parley-2') ? 2 : 1;
  if (!name.endsWith(EARLIER)) return startParley(pods, startOptions);
  earlier ??= await checkOutEarlier(options.before ?? 'HEAD', bench.dir);
  return startParley(pods, { ...startOptions, earlier });
}

function limitsText(): string {
  return Object.entries(PARLEY_LIMITS)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n  ');
}
