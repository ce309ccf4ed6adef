/** `npm run bench-rooms`: a session on one relay and on two, with more and more people. The README says what each figure means. */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { adHocRoomId } from '@parley/protocol/ids';
import { startBench } from './bench-run.ts';
import { digits, percent } from './columns.ts';
import { describe, describeAlone, describeMachine } from './machine.ts';
import { readNumber, readOptions } from './options.ts';
import { build } from './programs.ts';
import { publish } from './publish.ts';
import type { Outcome, Report } from './rooms/outcome.ts';
import {
  FULL,
  PACKAGES,
  scaling,
  SEARCH,
  searched,
  SMOKE,
  SMOKE_STEP,
  type Relays,
  type Step,
} from './rooms/plan.ts';
import { picture } from './rooms/picture.ts';
import { startSite, type Site } from './rooms/site.ts';
import { isSustained, largest, ratioOf, type Run } from './rooms/summary.ts';
import { doubtsOf, ratioText, tableOf } from './rooms/table.ts';
import { judge, saturated } from './rooms/verdict.ts';
import { QUIET_CORES, verdictText } from './verdict.ts';
import { runGenerator } from './streams/generator.ts';

const USAGE = `usage: npm run bench-rooms -w loadtest -- [options]
  --smoke         one small room that checks exactness and gives no figures (half a minute, for CI); without limits
  --repeats n     how often a room is tried again because the machine was not quiet (${FULL.repeats})
  --publish       write docs/evaluation/bench-rooms.{json,svg}
  --programs dir  take parley-relay and parley-load from there instead of building them`;

const options = readOptions(USAGE, {
  smoke: { type: 'boolean', default: false },
  repeats: { type: 'string' },
  publish: { type: 'boolean', default: false },
  programs: { type: 'string' },
});
if (availableParallelism() < 2) {
  console.error('two processors are needed: one for relays, one for everything else');
  process.exit(1);
}

const profile = options.smoke ? SMOKE : FULL;
const repeats = readNumber('--repeats', options.repeats, {
  otherwise: profile.repeats,
  min: 0,
  usage: USAGE,
});
const programs = options.programs ?? build(profile.build, PACKAGES);
const machine = describeMachine();
let site: Site | undefined;
const bench = startBench(async () => site?.close());

console.log(describe(machine));
const scaled: Run[] = [];
const climbed: Run[] = [];
/** Runs that were repeated because the machine was not quiet. */
const disturbed: Run[] = [];
/** Of two runs of the same size in a climb, the first, which was not sustained. */
const missed: Run[] = [];
let isClean = false;
try {
  isClean = options.smoke ? await smoke() : await measureAll();
} finally {
  await site?.close();
}
bench.end(isClean ? undefined : 'A run had no result');

async function smoke(): Promise<boolean> {
  await on(2, async () => {
    scaled.push(await run(SMOKE_STEP));
  });
  const exact = scaled.every(
    ({ outcome, verdict }) => verdict.verdict !== 'failed' && outcome.exact && outcome.lateJoins === 0,
  );
  console.log(exact ? 'every frame exactly once, whole and in order' : 'not exact');
  return exact;
}

async function measureAll(): Promise<boolean> {
  for (const relays of [1, 2] as const) {
    await on(relays, async () => {
      for (const step of scaling(relays)) scaled.push(await run(step));
      await climb(relays);
    });
  }
  const ratio = ratioOf(climbed);
  console.log(`\n${tableOf('One session, each relay limited to 1 CPU and 1 GB', scaled)}`);
  console.log(
    `\n${tableOf(`How much is carried, each relay limited to ${percent(SEARCH.cpu)} of a CPU`, climbed)}`,
  );
  console.log(`\n${ratioText(ratio)}`);
  for (const doubt of doubtsOf([...scaled, ...climbed])) console.log(doubt);
  if (options.publish) {
    const foot = `${describeAlone(machine)}; all relays on core 0, everything else on core 1`;
    publish('bench-rooms', { machine, ratio, scaled, climbed, missed, disturbed }, picture(scaled, { foot }));
  }
  return [...scaled, ...climbed].every(({ verdict }) => verdict.verdict !== 'failed');
}

/** Adds people until the relays do not sustain them. Two relays begin with the most that one sustained. */
async function climb(relays: Relays): Promise<void> {
  const first = relays === 1 ? SEARCH.first : Math.max(SEARCH.first, largest(climbed, 1));
  for (let people = first; people <= SEARCH.most; people += SEARCH.by * relays) {
    const one = await run(searched(people, relays));
    // Once more: one failure may be a coincidence.
    const again = isSustained(one) ? one : await run(searched(people, relays));
    climbed.push(again);
    if (again !== one) missed.push(one);
    if (!isSustained(again)) return;
  }
}

/** Runs `work` on a stack of its own. */
async function on(relays: Relays, work: () => Promise<void>): Promise<void> {
  site = await startSite(join(bench.dir, `relays-${relays}`), relays, {
    limited: !options.smoke,
    relay: join(programs, 'parley-relay'),
  });
  await work();
  await site.close();
  site = undefined;
}

/** Repeats a run, whatever its result, while other programs used the machine. */
async function run(step: Step): Promise<Run> {
  for (let tries = 1; ; tries += 1) {
    const one = await once(step);
    if (one.outcome.othersUse <= QUIET_CORES || tries > repeats) return one;
    disturbed.push(one);
    console.log('  the machine was not quiet: once more');
  }
}

async function once(step: Step): Promise<Run> {
  if (site === undefined) throw new Error('no site');
  if (step.cpu !== null) site.limit(step.cpu);
  const watch = site.watch();
  const { answer, othersUse } = await runGenerator(programs, site.pids, [
    'room',
    `${site.url}/r/${adHocRoomId(randomBytes(16))}`,
    '--json=-',
    `--participants=${step.participants}`,
    `--bitrate=${step.bitrateKbit}`,
    `--fps=${step.fps}`,
    `--tiles=${step.tiles}`,
    `--speakers=${Math.min(step.speakers, step.participants)}`,
    `--warm-up=${profile.warmSeconds}`,
    `--for=${profile.seconds}`,
  ]).finally(() => watch.close());
  const report = answer as Report;
  const uses = watch.between(report.window.beganMs, report.window.endedMs);
  const outcome: Outcome = { ...report, uses, othersUse };
  const verdict = judge(outcome, step);
  console.log(
    [`${step.participants} people, ${step.relays} relays`, textOf(outcome, step), verdictText(verdict) ?? []]
      .flat()
      .join('; '),
  );
  return { step, outcome, verdict };
}

function textOf(outcome: Outcome, step: Step): string {
  const { rttMs, loss, freezes, generator, othersUse, uses } = outcome;
  const relays = uses.map(({ cpu, throttled }) => `${percent(cpu)} (throttled ${percent(throttled)})`);
  return [
    `RTT ${digits(rttMs.p50)} ms`,
    `lost ${(100 * loss.share).toFixed(2)} %`,
    `${freezes.count} freezes`,
    `generator ${percent(generator.share)}`,
    `others ${percent(othersUse)}`,
    `relays ${relays.join(', ')}`,
    `full: ${saturated(outcome, step)}`,
  ].join(', ');
}
