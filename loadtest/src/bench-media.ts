/** `npm run bench-media`: the media relay beside the stock one, in one run, round by round. The README says what each row means. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startBench } from './bench-run.ts';
import { doubtsOf, panelOf } from './comparison.ts';
import { describe, describeMachine } from './machine.ts';
import { hasLiveKit } from './media/livekit.ts';
import { makeLossyLink, mayMakeLinks, type LossyLink } from './media/lossy-link.ts';
import type { Outcome } from './media/outcome.ts';
import {
  contestantsOf,
  FULL,
  LIVEKIT_LOAD,
  LIVEKIT_LOAD_PROGRAM,
  PACKAGES,
  ROWS,
  SERVERS,
  SMOKE,
  STOCK,
  STOCK_PROGRAM,
  type Row,
  type ServerName,
} from './media/plan.ts';
import type { Server } from './media/server.ts';
import { startServer } from './media/servers.ts';
import { costOf, memoryOf, memoryText, summarize, type Result, type Run } from './media/summary.ts';
import { REFERENCE, tableOf } from './media/table.ts';
import { isExact, judge } from './media/verdict.ts';
import { readNames, readNumber, readOptions } from './options.ts';
import { plot } from './plot.ts';
import { stopAll } from './process.ts';
import { build, buildGo } from './programs.ts';
import { publish } from './publish.ts';
import { measureRow, type Bench } from './rounds.ts';
import { runGenerator } from './streams/generator.ts';

const KNOWN = ROWS.map(({ name }) => name);
const USAGE = `usage: npm run bench-media -w loadtest -- [options]
  --smoke         a few short rows that check exactness and give no figures (half a minute, for CI); the stock relay only where it is built
  --rows a,b      only these of ${KNOWN.join(', ')}
  --rounds n      rounds of each row (${FULL.rounds})
  --publish       write docs/evaluation/bench-media.{json,svg}
  --programs dir  take parley-relay, parley-load and ${STOCK_PROGRAM} from there instead of building them`;

const options = readOptions(USAGE, {
  smoke: { type: 'boolean', default: false },
  rows: { type: 'string' },
  rounds: { type: 'string' },
  publish: { type: 'boolean', default: false },
  programs: { type: 'string' },
});
const profile = options.smoke ? SMOKE : FULL;
const names = readNames(options.rows, { known: KNOWN, defaults: profile.rows, usage: USAGE });
const rounds = readNumber('--rounds', options.rounds, { otherwise: profile.rounds, min: 1, usage: USAGE });
const rows = ROWS.filter(
  ({ name, lossPercent }) => names.includes(name) && (lossPercent === undefined || mayMakeLinks()),
);
const programs = options.programs ?? build(profile.build, PACKAGES, options.smoke ? [] : [STOCK]);
const hasStock = existsSync(join(programs, STOCK_PROGRAM));
/** A smoke run checks ours alone. */
const wantsLiveKit = !options.smoke && rows.some((row) => row.hasLiveKit);
const withLiveKit = wantsLiveKit && hasLiveKit() && hasLiveKitLoad();
const servers = SERVERS.map(({ name }) => name).filter(
  (name) => (name !== 'stock' || hasStock) && (name !== 'livekit' || withLiveKit),
);
/** To the watchers of the current row, if it has one. */
let link: LossyLink | undefined;
const run = startBench(() => stopAll().finally(() => link?.close()));
const machine = describeMachine();

console.log(describe(machine));
if (!hasStock) console.log('The stock relay is not built: Parley alone.');
if (wantsLiveKit && !withLiveKit) console.log('LiveKit is not built: it is left out.');
if (rows.length < names.length) console.log('Rows with loss are left out: they need root.');
const runs: Run[] = [];
/** Rounds that were run again. */
const disturbed: Run[] = [];
const bench: Omit<Bench<ServerName, Row, Outcome, Server>, 'contestants'> = {
  rounds,
  repeats: profile.repeats,
  startServer: (name, row) => startServer(name, row, { programs, dir: run.dir, link }),
  measure: runRow,
  judge,
  costOf,
};
try {
  for (const row of rows) {
    link = row.lossPercent === undefined ? undefined : makeLossyLink(row.lossPercent);
    const measured = await measureRow(row, { ...bench, contestants: contestantsOf(row, servers) });
    runs.push(...measured.runs);
    disturbed.push(...measured.disturbed);
    link?.close();
  }
} finally {
  await stopAll();
  link?.close();
}
report();

function hasLiveKitLoad(): boolean {
  if (options.programs === undefined) return buildGo(LIVEKIT_LOAD_PROGRAM, LIVEKIT_LOAD, programs);
  return existsSync(join(programs, LIVEKIT_LOAD_PROGRAM));
}

async function runRow(row: Row, server: Server): Promise<Outcome> {
  const { program, args } = server.generator();
  const common = [
    `--pid=${server.pids.join(',')}`,
    `--warm-up=${profile.warmSeconds}`,
    `--seconds=${profile.seconds}`,
    ...row.load,
  ];
  const how = { program };
  const { answer, othersUse } = await runGenerator(programs, server.pids, [...args, ...common], how);
  const { each: _watchers, ...outcome } = answer as Omit<Outcome, 'othersUse'> & { readonly each: unknown };
  return { ...outcome, othersUse };
}

function report(): void {
  const isClean = options.smoke
    ? runs.every(({ outcome }) => isExact(outcome))
    : runs.every(({ server, verdict }) => server === 'livekit' || verdict.verdict === 'valid');
  if (options.smoke) {
    const exact = isClean ? 'every frame exactly once, whole and in order' : 'not all exact';
    console.log(`\n${runs.length} runs, ${exact}`);
  } else printResults();
  const problem = options.smoke ? 'not exact' : 'void or failed: no result of its row';
  run.end(isClean ? undefined : `A run was ${problem}`);
}

function printResults(): void {
  const summaries = rows.map((row) => summarize(row, runs));
  for (const summary of summaries) console.log(`\n${tableOf(summary)}`);
  console.log(
    `\nMedian (min-max) of the rounds; x stock is taken round by round. "others" is what else ran on this machine, in cores.`,
  );
  const memory = memoryOf(summaries);
  for (const one of memory) console.log(memoryText(one));
  for (const row of rows) {
    const { name } = row;
    const again = disturbed.filter((one) => one.row === name).length / contestantsOf(row, servers).length;
    if (again > 0)
      console.log(
        `${name}: ${again} of ${rounds + again} rounds were run again, as the machine was not quiet.`,
      );
  }
  for (const doubt of doubtsOf(summaries)) console.log(doubt);
  if (!options.publish) return;
  if (rows.length < KNOWN.length) {
    console.log('Nothing is published: not all rows were measured.');
    return;
  }
  // A row that failed or is void is published as that: where servers or generator end is a result too.
  const isResult = ({ spoilt }: Result): boolean => spoilt === undefined;
  const drawn = summaries
    .map(({ row, results }) => ({
      row,
      results: results.filter((one) => one.server !== 'livekit' || isResult(one)),
    }))
    .filter(({ results }) => results.every(isResult));
  publish(
    'bench-media',
    { machine, rows: summaries, memory, runs, disturbed },
    plot(
      drawn.map((summary) => panelOf(summary, REFERENCE)),
      {
        label: 'Cost of relaying media: Parley beside the stock relay',
        foot: describe(machine),
      },
    ),
  );
}
