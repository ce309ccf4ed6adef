/** The profiles of calls: a herd through the edge, and what it cost. The README says what a figure means. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startStack, type Stack } from '@parley/local/stack';
import { sizeOf, steadyOf, visitsOf } from '../lib/plan.ts';
import { herdProfile, type HerdProfile } from '../profiles/herd.ts';
import { readMetrics, startGenerator, THRESHOLD_EXIT_CODE, type Generator } from './generator.ts';
import { HERD_LIMITS } from './limits.ts';
import { judge, publish, reportOf, type HerdResult } from './report.ts';
import { momentOf, useBetween, type Moment, type Parts } from './watch.ts';

const PROGRESS_EVERY_MS = 5000;

const startedAt = Date.now();
const name = process.env['PROFILE'] || 'smoke';
const profile = herdProfile(name);
const size = sizeOf(profile);
const dir = mkdtempSync(join(tmpdir(), 'parley-herd-'));
const summaryPath = join(dir, 'summary.json');

say(`starting a Parley of its own in ${dir}`);
const stack = await startStack({ dir, env: HERD_LIMITS });
let generator: Generator | undefined;
// The stack ends with this process; k6 would continue without it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    generator?.kill();
    process.exit(1);
  });
}
let isClean = false;
try {
  isClean = await run(stack);
} finally {
  generator?.kill();
  await stack.stop();
}
if (isClean) rmSync(dir, { recursive: true });
else say(`no result; logs are in ${dir}/logs`);
process.exitCode = isClean ? 0 : 1;

async function run({ endpoints }: Stack): Promise<boolean> {
  const pid = (process: string): number => endpoints.processes[process]?.pid ?? Number.NaN;
  const parts: Parts = {
    pods: [pid('signaling-1'), pid('signaling-2')],
    NATS: [pid('nats')],
    Envoy: [pid('envoy')],
  };
  const idle = momentOf(parts);
  // By its number: "localhost" may be two addresses, of which the edge has one.
  const site = endpoints.processes['envoy']?.url ?? endpoints.web;
  say(`${size.people} people for ${Math.ceil(size.endMs / 1000)} s through ${site}; k6 makes ready`);
  generator = startGenerator({ profile: name, site, summaryPath });
  const begunAt = await generator.begun;
  const { use, grownKb, participants } = await watchSteady(
    { ...parts, k6: [generator.pid] },
    { begunAt, idle, pods: endpoints.pods },
  );
  say(`measured; the last ones leave ${seconds(size.endMs)} s after the beginning`);
  const exitCode = await generator.ended;
  const betweenPods = await sumOf('parley_directed_messages_sent_total', endpoints.pods);
  if (exitCode !== 0 && exitCode !== THRESHOLD_EXIT_CODE) throw new Error(`k6 ended with ${exitCode}`);

  const metrics = readMetrics(summaryPath);
  const steadyJoins = joinsWithin(profile);
  const measured = { use, grownKb, participants, steadyJoins, betweenPods, metrics };
  const result: HerdResult = { name, profile, size, limits: HERD_LIMITS, ...measured };
  console.log(`\n${reportOf(result)}`);
  const judged = judge(result);
  if (judged.verdict === 'valid') {
    console.log(`Every threshold held; ${seconds(Date.now() - startedAt)} s in all.`);
    if (process.env['PUBLISH'] === '1') console.log(`written: ${publish(result)}`);
    return true;
  }
  console.log(`${judged.verdict.toUpperCase()}: ${judged.why.join('; ')}`);
  return false;
}

interface Watched {
  readonly begunAt: number;
  readonly idle: Moment;
  readonly pods: readonly string[];
}

async function watchSteady(
  parts: Parts,
  { begunAt, idle, pods }: Watched,
): Promise<Pick<HerdResult, 'use' | 'grownKb' | 'participants'>> {
  const { startMs, endMs } = steadyOf(profile);
  await progressUntil(parts, begunAt, startMs, 'ramp');
  const start = momentOf(parts);
  await progressUntil(parts, begunAt, endMs, 'steady');
  const end = momentOf(parts);
  const grownKb = Object.fromEntries(
    Object.entries(idle.memoryKb).map(([part, kb]) => [part, (end.memoryKb[part] ?? Number.NaN) - kb]),
  );
  return { use: useBetween(start, end), grownKb, participants: await sumOf('parley_participants', pods) };
}

/** Resolves at that time of the herd, and says now and then how it goes. Rejects where k6 ends first. */
async function progressUntil(parts: Parts, begunAt: number, ms: number, stage: string): Promise<void> {
  let last = momentOf(parts);
  for (;;) {
    const left = begunAt + ms - Date.now();
    if (left <= 0) return;
    const ended = await Promise.race([generator?.ended, delay(Math.min(left, PROGRESS_EVERY_MS))]);
    if (ended !== undefined) throw new Error(`k6 ended with ${ended} in the midst of the herd`);
    const now = momentOf(parts);
    const { cores, others } = useBetween(last, now);
    last = now;
    const uses = Object.entries({ ...cores, others }).map(
      ([part, use]) => `${part} ${(100 * use).toFixed(0)} %`,
    );
    const at = Date.now() - begunAt;
    say(`${seconds(at)} s ${stage}: ${presentAt(profile, at)} people; of a core: ${uses.join(', ')}`);
  }
}

function presentAt(of: HerdProfile, ms: number): number {
  return countVisits(of, ({ startMs, endMs }) => startMs <= ms && ms < endMs);
}

function joinsWithin(of: HerdProfile): number {
  const steady = steadyOf(of);
  return countVisits(of, ({ startMs }) => steady.startMs <= startMs && startMs < steady.endMs);
}

function countVisits(
  of: HerdProfile,
  matches: (visit: { startMs: number; endMs: number }) => boolean,
): number {
  let count = 0;
  for (let call = 0; call < of.calls; call += 1) {
    for (let seat = 0; seat < of.callSize; seat += 1) {
      count += visitsOf(of, call, seat).filter(matches).length;
    }
  }
  return count;
}

/** A figure of all pods together, by their own metrics. */
async function sumOf(metric: string, pods: readonly string[]): Promise<number> {
  let sum = 0;
  for (const pod of pods) {
    const text = await (await fetch(`${pod}/metrics`)).text();
    sum += Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec(text)?.[1]);
  }
  return sum;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(0);
}

function say(text: string): void {
  console.log(`herd: ${text}`);
}
