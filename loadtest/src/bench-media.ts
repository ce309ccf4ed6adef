/** `npm run bench-media`: the media relay beside the stock one, in one run, round by round. The README says what each row means. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { digits } from './columns.ts';
import { describe, describeMachine } from './machine.ts';
import type { Outcome } from './media/outcome.ts';
import {
  FULL,
  PACKAGES,
  ROWS,
  SERVERS,
  SMOKE,
  STOCK,
  STOCK_PROGRAM,
  type Contestant,
  type Row,
} from './media/plan.ts';
import { startServer, stopServers, type Server } from './media/servers.ts';
import { costOf, summarize, type Run } from './media/summary.ts';
import { doubtsOf, panelOf, tableOf } from './media/table.ts';
import { isExact, judge } from './media/verdict.ts';
import { plot } from './plot.ts';
import { build } from './programs.ts';
import { publish } from './publish.ts';
import { runGenerator } from './streams/generator.ts';
import { QUIET_CORES } from './verdict.ts';

const KNOWN = ROWS.map(({ name }) => name);
const USAGE = `usage: npm run bench-media -w loadtest -- [options]
  --smoke         a few short rows that check exactness and give no figures (half a minute, for CI); the stock relay only where it is built
  --rows a,b      only these of ${KNOWN.join(', ')}
  --rounds n      rounds of each row (${FULL.rounds})
  --publish       write docs/evaluation/bench-media.{json,svg}
  --programs dir  take parley-relay, parley-load and ${STOCK_PROGRAM} from there instead of building them`;

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    rows: { type: 'string' },
    rounds: { type: 'string' },
    publish: { type: 'boolean', default: false },
    programs: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}

const profile = options.smoke ? SMOKE : FULL;
const names = options.rows?.split(',') ?? profile.rows;
const unknown = names.filter((name) => !KNOWN.includes(name));
const rounds = Number(options.rounds ?? profile.rounds);
if (unknown.length > 0 || !(rounds >= 1)) {
  console.error(unknown.length > 0 ? `no such row: ${unknown.join(', ')}` : '--rounds must be at least 1');
  console.error(USAGE);
  process.exit(2);
}
const rows = ROWS.filter(({ name }) => names.includes(name));
const programs = options.programs ?? build(profile.build, PACKAGES, options.smoke ? [] : [STOCK]);
const hasStock = existsSync(join(programs, STOCK_PROGRAM));
const contestants = SERVERS.filter(({ name }) => name !== 'stock' || hasStock);
const dir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
const machine = describeMachine();
const startedAt = Date.now();

console.log(describe(machine));
if (!hasStock) console.log('The stock relay is not built: Parley alone.');
const runs: Run[] = [];
/** Rounds that were run again. */
const disturbed: Run[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopServers().then(() => process.exit(1)));
}
try {
  for (const row of rows) await measure(row);
} finally {
  await stopServers();
}
report();

/** Servers are new for each row, so that memory is that row's. */
async function measure(row: Row): Promise<void> {
  console.log(`\n${row.title}`);
  const servers: (Contestant & Server)[] = [];
  for (const one of contestants) {
    servers.push({ ...one, ...(await startServer(one.name, row.relays, { programs, dir })) });
  }
  for (let round = 1, repeats = 0; round <= rounds; round += 1) {
    const tries: Run[] = [];
    for (const server of servers)
      tries.push(judged(row, server, { round, outcome: await runRow(row, server) }));
    const isQuiet = tries.every(({ outcome }) => outcome.othersUse <= QUIET_CORES);
    if (isQuiet || repeats === profile.repeats) runs.push(...tries);
    else {
      // Whatever came of it: only what the others used decides.
      disturbed.push(...tries);
      repeats += 1;
      round -= 1;
      console.log('  the machine was not quiet: once more');
    }
  }
  for (const server of servers) await server.close();
}

async function runRow(row: Row, server: Server): Promise<Outcome> {
  const { publishers, watchers } = server.addresses();
  const { answer, othersUse } = await runGenerator(programs, server.pids, [
    'media',
    '--json=-',
    `--relay=${watchers}`,
    `--publishers-relay=${publishers}`,
    ...server.hashes.map((hash) => `--hash=${hash}`),
    `--pid=${server.pids.join(',')}`,
    `--warm-up=${profile.warmSeconds}`,
    `--seconds=${profile.seconds}`,
    ...row.load,
  ]);
  const { each: _watchers, ...outcome } = answer as Omit<Outcome, 'othersUse'> & { readonly each: unknown };
  return { ...outcome, othersUse };
}

function judged(
  row: Row,
  { name, label }: Contestant,
  { round, outcome }: { round: number; outcome: Outcome },
): Run {
  const verdict = judge(outcome);
  const cost = `${digits(costOf(row, outcome))} ${row.unit}`;
  const said = verdict.verdict === 'valid' ? cost : `${verdict.verdict.toUpperCase()}: ${verdict.why}`;
  console.log(`  round ${round}  ${label.padEnd(18)} ${said}`);
  return { row: row.name, server: name, round, outcome, verdict };
}

function report(): void {
  const isClean = options.smoke
    ? runs.every(({ outcome }) => isExact(outcome))
    : runs.every(({ verdict }) => verdict.verdict === 'valid');
  if (options.smoke) {
    const exact = isClean ? 'every frame exactly once, whole and in order' : 'not all exact';
    console.log(`\n${runs.length} runs, ${exact}`);
  } else tell();
  console.log(`${Math.round((Date.now() - startedAt) / 1000)} s`);
  if (isClean) rmSync(dir, { recursive: true });
  else
    console.log(
      `A run was ${options.smoke ? 'not exact' : 'void or failed: no result of its row'}. Logs are in ${dir}`,
    );
  process.exitCode = isClean ? 0 : 1;
}

function tell(): void {
  const summaries = rows.map((row) => summarize(row, runs));
  for (const summary of summaries) console.log(`\n${tableOf(summary)}`);
  console.log(
    `\nMedian (min-max) of the rounds; x stock is taken round by round. "others" is what else ran on this machine, in cores.`,
  );
  for (const { name } of rows) {
    const again = disturbed.filter(({ row }) => row === name).length / contestants.length;
    if (again > 0)
      console.log(
        `${name}: ${again} of ${rounds + again} rounds were run again, as the machine was not quiet.`,
      );
  }
  for (const doubt of doubtsOf(summaries)) console.log(doubt);
  if (!options.publish) return;
  if (names.length < KNOWN.length) {
    console.log('Nothing is published: not all rows were measured.');
    return;
  }
  // A row that failed or is void is published as that: where servers or generator end is a result too.
  const drawn = summaries.filter(({ results }) => results.every(({ spoilt }) => spoilt === undefined));
  publish(
    'bench-media',
    { machine, rows: summaries, runs, disturbed },
    plot(drawn.map(panelOf), {
      label: 'Cost of relaying media: Parley beside the stock relay',
      foot: describe(machine),
    }),
  );
}
