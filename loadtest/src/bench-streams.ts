/** `npm run bench-streams`: the relay beside three references, in one run, round by round. The README says what each row means. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { digits } from './columns.ts';
import { describe, describeMachine } from './machine.ts';
import { plot } from './plot.ts';
import { build } from './programs.ts';
import { publish } from './publish.ts';
import { runRow } from './streams/generator.ts';
import {
  churnTable,
  idlePanel,
  idleTable,
  measureChurn,
  measureIdle,
  type Churn,
  type Idle,
} from './streams/memory.ts';
import type { Outcome } from './streams/outcome.ts';
import { FULL, MEMORY, PACKAGES, ROWS, SERVERS, SMOKE, type Contestant, type Row } from './streams/plan.ts';
import { OPEN, withTokens } from './streams/relay.ts';
import { startServer, stopServers, type Server } from './streams/servers.ts';
import { costOf, summarize, type Run } from './streams/summary.ts';
import { doubtsOf, panelOf, tableOf } from './streams/table.ts';
import { judge } from './streams/verdict.ts';

const KNOWN = [...ROWS.map(({ name }) => name), ...MEMORY];
const USAGE = `usage: npm run bench-streams -w loadtest -- [options]
  --smoke         a few short rows that check exactness and give no figures (half a minute, for CI)
  --rows a,b      only these of ${KNOWN.join(', ')}
  --rounds n      rounds of each row (${FULL.rounds})
  --open          a relay that asks for no tokens
  --publish       write docs/evaluation/bench-streams.{json,svg}
  --programs dir  take parley-relay, parley-load and the references from there instead of building them`;

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    rows: { type: 'string' },
    rounds: { type: 'string' },
    open: { type: 'boolean', default: false },
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
const programs = options.programs ?? build(profile.build, PACKAGES);
const dir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
const relay = options.open ? OPEN : withTokens();
const startOptions = { programs, dir, relay };
const machine = describeMachine();
const startedAt = Date.now();

console.log(describe(machine));
console.log(`relay: ${relay.said}`);
const runs: Run[] = [];
let idle: readonly Idle[] = [];
let churn: Churn | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopServers().then(() => process.exit(1)));
}
try {
  for (const row of rows) await measure(row);
  if (names.includes('idle')) idle = await measureIdle(startOptions);
  if (names.includes('churn')) churn = await measureChurn(startOptions);
} finally {
  await stopServers();
}
report();

/** Servers are new for each row, so that memory is that row's. */
async function measure(row: Row): Promise<void> {
  console.log(`\n${row.title}`);
  const servers: (Contestant & Server)[] = [];
  for (const one of SERVERS) servers.push({ ...one, ...(await startServer(one.name, startOptions)) });
  for (let round = 1; round <= rounds; round += 1) {
    for (const server of servers)
      note(row, server, { round, outcome: await runRow(programs, server, { row: row.name, profile }) });
  }
  for (const server of servers) await server.close();
}

function note(
  row: Row,
  { name, label }: Contestant,
  { round, outcome }: { round: number; outcome: Outcome },
): void {
  const verdict = judge(outcome);
  runs.push({ row: row.name, server: name, round, outcome, verdict });
  const cost = `${digits(costOf(row, outcome))} ${row.unit}`;
  const said = verdict.verdict === 'valid' ? cost : `${verdict.verdict.toUpperCase()}: ${verdict.why}`;
  console.log(`  round ${round}  ${label.padEnd(18)} ${said}`);
}

function report(): void {
  // A busy machine starves the generator of a smoke run, which is no reason to doubt what it counted.
  const spoils = options.smoke ? ['failed'] : ['failed', 'void'];
  const isClean =
    runs.every(({ verdict }) => !spoils.includes(verdict.verdict)) &&
    [...idle, churn].every((result) => result?.wrong === undefined);
  if (options.smoke) {
    const exact = isClean ? 'every message exactly once, whole and in order' : 'not all exact';
    console.log(`\n${runs.length} runs, ${exact}`);
  } else tell(isClean);
  console.log(`${Math.round((Date.now() - startedAt) / 1000)} s`);
  if (isClean) rmSync(dir, { recursive: true });
  else console.log(`A run was void or failed: no result. Logs are in ${dir}`);
  process.exitCode = isClean ? 0 : 1;
}

function tell(isClean: boolean): void {
  const summaries = rows.map((row) => summarize(row, runs));
  for (const summary of summaries) console.log(`\n${tableOf(summary)}`);
  if (idle.length > 0) console.log(`\n${idleTable(idle)}`);
  if (churn !== undefined) console.log(`\n${churnTable(churn)}`);
  console.log(
    `\nMedian (min-max) of the rounds; x floor is taken round by round. "others" is what else ran on this machine, in cores.`,
  );
  for (const doubt of doubtsOf(summaries)) console.log(doubt);
  if (!options.publish) return;
  if (!isClean || names.length < KNOWN.length) {
    console.log('Nothing is published: a run was void or failed, or not all rows were measured.');
    return;
  }
  publish(
    'bench-streams',
    { machine, relay: relay.said, rows: summaries, idle, churn, runs },
    plot([...summaries.map(panelOf), idlePanel(idle)], {
      label: 'Cost of relaying streams: Parley beside three references',
      foot: describe(machine),
    }),
  );
}
