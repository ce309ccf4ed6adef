/** The profiles with an event: all come, it happens, and the run shows how soon all are back. The README says what a figure means. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { roomOf, stormProfile, timesOf } from '../profiles/storm.ts';
import { crowdProgram, startCrowd, type Crowd } from './crowd.ts';
import { readMetrics, startGenerator, THRESHOLD_EXIT_CODE, type Generator } from './generator.ts';
import { STORM_LIMITS } from './limits.ts';
import { startMeter, type Reading } from './meter.ts';
import { startSite, type StormSite } from './site.ts';
import { publishStorm, stormReport, useOf, type StormResult } from './storm-report.ts';
import { judgeStorm } from './storm-verdict.ts';

const SEED = 1;
const PROGRESS_EVERY_MS = 5000;
/** Before all leave, the pods are asked for their people. */
const COUNT_BEFORE_END_MS = 3000;

const name = process.env['PROFILE'] ?? '';
const scale = Number(process.env['HERD_SCALE'] ?? 1);
const profile = stormProfile(name, scale);
const { eventMs, endMs } = timesOf(profile);
const program = crowdProgram();
const dir = mkdtempSync(join(tmpdir(), 'parley-herd-'));
const meter = startMeter();

say(`starting a Parley of its own in ${dir}`);
const site = await startSite(dir, STORM_LIMITS, meter);
let generator: Generator | undefined;
let crowd: Crowd | undefined;
const killGenerators = (): void => {
  generator?.kill();
  crowd?.kill();
};
// The stack ends with this process; the generators would continue without it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    killGenerators();
    process.exit(1);
  });
}
let isClean = false;
try {
  isClean = await run(site);
} finally {
  killGenerators();
  meter.close();
  await site.stop();
}
if (isClean) rmSync(dir, { recursive: true });
else say(`no result; logs are in ${dir}`);
process.exitCode = isClean ? 0 : 1;

async function run(on: StormSite): Promise<boolean> {
  const { edges } = on;
  const summaryPath = join(dir, 'summary.json');
  say(`${profile.people} people, ${profile.vus} of them k6, through ${edges.join(' and ')}; k6 makes ready`);
  generator = startGenerator({
    script: 'storm.js',
    profile: name,
    site: edges.join(','),
    summaryPath,
    env: { HERD_SCALE: String(scale), HERD_SEED: String(SEED) },
  });
  meter.add('k6', generator.pid);
  const begunAt = await generator.begun;
  crowd = startCrowd(program, crowdArgs(edges, begunAt));
  meter.add('crowd', crowd.pid);
  const measured = await measure(on, begunAt);
  const [exitCode, report] = await Promise.all([generator.ended, crowd.report]);
  if (exitCode !== 0 && exitCode !== THRESHOLD_EXIT_CODE) throw new Error(`k6 ended with ${exitCode}`);
  const result: StormResult = {
    name,
    scale,
    profile,
    limits: STORM_LIMITS,
    ...measured,
    metrics: readMetrics(summaryPath),
    crowd: report,
    progress: crowd.progress,
  };
  console.log(`\n${stormReport(result)}`);
  const verdict = judgeStorm({ ...result, k6Use: result.use.event.cores['k6'] ?? Number.NaN });
  if (verdict.verdict === 'valid') {
    console.log('Every goal was met.');
    if (process.env['PUBLISH'] === '1') publishStorm(result);
    return true;
  }
  console.log(`${verdict.verdict.toUpperCase()}: ${verdict.why.join('; ')}`);
  return false;
}

/** Lets the event happen at its time, and reads what that cost. */
async function measure(
  { pods, disturb }: StormSite,
  begunAt: number,
): Promise<Pick<StormResult, 'use' | 'before' | 'atEnd'>> {
  const readings: Reading[] = [];
  for (const moment of [0, profile.arriveMs, eventMs]) {
    await progressUntil(begunAt + moment);
    readings.push(meter.read());
  }
  const before = await peopleOn(pods);
  say(`${before.join(' and ')} people on the pods; now: ${profile.event}`);
  let isOver = false;
  const disturbed = disturb(profile.event).then(() => {
    isOver = true;
    say(`${profile.event}: over`);
  });
  disturbed.catch((why: unknown) => {
    say(String(why));
    killGenerators();
  });
  await progressUntil(begunAt + endMs - COUNT_BEFORE_END_MS);
  if (!isOver) throw new Error(`${profile.event} was not over at the end`);
  readings.push(meter.read());
  const atEnd = (await peopleOn(pods)).reduce((sum, people) => sum + people, 0);
  return { use: useOf(readings), before, atEnd };
}

function crowdArgs(edges: readonly string[], begunAt: number): string[] {
  const flags: Record<string, string | number> = {
    people: profile.people - profile.vus,
    'begin-at': begunAt,
    arrive: profile.arriveMs / 1000,
    until: endMs / 1000,
    ...(profile.oneRoom ? { room: roomOf(SEED, 0) } : { 'call-size': profile.callSize }),
    ...(profile.event === 'sockets-dropped' ? { 'drop-at': eventMs / 1000 } : {}),
  };
  return [...edges, ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)])];
}

/** Resolves at that moment, and says now and then how it goes. Rejects where a generator ends first. */
async function progressUntil(moment: number): Promise<void> {
  let last = meter.read();
  while (Date.now() < moment) {
    const ended = generator?.ended.then((code) => `k6 ended with ${code}`);
    const lost = crowd?.report.then(
      () => 'the crowd ended',
      (why: unknown) => String(why),
    );
    const early = await Promise.race(
      [ended, lost, delay(Math.min(moment - Date.now(), PROGRESS_EVERY_MS))].filter(isThere),
    );
    if (typeof early === 'string') throw new Error(`${early} in the midst of the herd`);
    const now = meter.read();
    const { cores, others } = useOf([last, now]).event;
    last = now;
    const uses = Object.entries({ ...cores, others }).map(
      ([part, use]) => `${part} ${(100 * use).toFixed(0)} %`,
    );
    const people = crowd?.progress.at(-1);
    say(`${people?.here ?? 0} of the crowd here, ${people?.away ?? 0} away; of a core: ${uses.join(', ')}`);
  }
}

function isThere<T>(one: T | undefined): one is T {
  return one !== undefined;
}

/** Participants on each pod, by its own metrics; one that does not answer has none. */
function peopleOn(pods: readonly string[]): Promise<number[]> {
  return Promise.all(
    pods.map(async (pod) => {
      const text = await fetch(`${pod}/metrics`).then(
        (answer) => answer.text(),
        () => '',
      );
      return Number(/^parley_participants (\d+)$/m.exec(text)?.[1] ?? 0);
    }),
  );
}

function say(text: string): void {
  console.log(`herd: ${text}`);
}
