/** `npm run bench-streams`: the relay beside three references, in one run, round by round. The README says what each row means. */
import { doubtsOf, panelOf } from './comparison.ts';
import { startBench } from './bench-run.ts';
import { describe, describeMachine } from './machine.ts';
import { readNames, readNumber, readOptions } from './options.ts';
import { plot } from './plot.ts';
import { stopAll } from './process.ts';
import { build } from './programs.ts';
import { publish } from './publish.ts';
import { measureRow, type Bench } from './rounds.ts';
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
import {
  CROSSBAR,
  FULL,
  MEMORY,
  PACKAGES,
  ROWS,
  SERVERS,
  SMOKE,
  type Row,
  type ServerName,
} from './streams/plan.ts';
import { OPEN, withTokens } from './streams/relay.ts';
import { startServer, type Server } from './streams/servers.ts';
import { costOf, summarize, type Run } from './streams/summary.ts';
import { REFERENCE, tableOf } from './streams/table.ts';
import { judge } from './streams/verdict.ts';

const KNOWN = [...ROWS.map(({ name }) => name), ...MEMORY];
const USAGE = `usage: npm run bench-streams -w loadtest -- [options]
  --smoke         a few short rows that check exactness and give no figures (half a minute, for CI)
  --rows a,b      only these of ${KNOWN.join(', ')}
  --rounds n      rounds of each row (${FULL.rounds})
  --open          a relay that asks for no tokens
  --crossbar file measure also Crossbar: its program, which you build (https://github.com/timdrysdale/crossbar)
  --publish       write docs/evaluation/bench-streams.{json,svg}
  --programs dir  take parley-relay, parley-load and the references from there instead of building them`;

const options = readOptions(USAGE, {
  smoke: { type: 'boolean', default: false },
  rows: { type: 'string' },
  rounds: { type: 'string' },
  open: { type: 'boolean', default: false },
  crossbar: { type: 'string' },
  publish: { type: 'boolean', default: false },
  programs: { type: 'string' },
});
const profile = options.smoke ? SMOKE : FULL;
const names = readNames(options.rows, { known: KNOWN, defaults: profile.rows, usage: USAGE });
const rounds = readNumber('--rounds', options.rounds, { otherwise: profile.rounds, min: 1, usage: USAGE });
const rows = ROWS.filter(({ name }) => names.includes(name));
const programs = options.programs ?? build(profile.build, PACKAGES);
const run = startBench(stopAll);
const relay = options.open ? OPEN : withTokens();
const contestants = options.crossbar === undefined ? SERVERS : [...SERVERS, CROSSBAR];
const startOptions = { programs, dir: run.dir, relay, crossbar: options.crossbar };
const machine = describeMachine();

console.log(describe(machine));
console.log(`relay: ${relay.text}`);
const runs: Run[] = [];
let idle: readonly Idle[] = [];
let churn: Churn | undefined;
const bench: Bench<ServerName, Row, Outcome, Server> = {
  contestants,
  rounds,
  repeats: 0,
  startServer: (name) => startServer(name, startOptions),
  measure: (row, server) => runRow(programs, server, { row: row.name, profile }),
  judge,
  costOf,
};
try {
  for (const row of rows) runs.push(...(await measureRow(row, bench)).runs);
  if (names.includes('idle')) idle = await measureIdle(contestants, startOptions);
  if (names.includes('churn')) churn = await measureChurn(startOptions);
} finally {
  await stopAll();
}
report();

function report(): void {
  // A busy machine starves the generator of a smoke run, which is no reason to doubt what it counted.
  const spoils = options.smoke ? ['failed'] : ['failed', 'void'];
  // What Crossbar loses is its result, not a fault of the bench.
  const isClean =
    runs.every(({ server, verdict }) => server === 'crossbar' || !spoils.includes(verdict.verdict)) &&
    idle.every(({ server, wrong }) => server === 'crossbar' || wrong === undefined) &&
    churn?.wrong === undefined;
  if (options.smoke) {
    const exact = isClean ? 'every message exactly once, whole and in order' : 'not all exact';
    console.log(`\n${runs.length} runs, ${exact}`);
  } else printResults(isClean);
  run.end(isClean ? undefined : 'A run was void or failed: no result');
}

function printResults(isClean: boolean): void {
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
    { machine, relay: relay.text, rows: summaries, idle, churn, runs },
    plot([...summaries.map((summary) => panelOf(summary, REFERENCE)), idlePanel(idle)], {
      label: 'Cost of relaying streams: Parley beside references',
      foot: describe(machine),
    }),
  );
}
