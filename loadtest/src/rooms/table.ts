/** The report of the rooms' bench as people read it. */
import { aligned, digits, percent, type Column } from '../columns.ts';
import { QUIET_CORES, verdictText } from '../verdict.ts';
import { GOAL, SEARCH } from './plan.ts';
import type { Ratio, Run } from './summary.ts';
import { saturated } from './verdict.ts';

const lost = (share: number): string => (share === 0 ? '0' : `${(100 * share).toFixed(2)} %`);

const COLUMNS: readonly Column<Run>[] = [
  ['people', ({ step }) => String(step.participants)],
  ['relays', ({ step }) => String(step.relays)],
  ['each sends', ({ step }) => `${step.bitrateKbit} kbit/s, ${step.fps} fps`],
  ['sees', ({ step }) => String(Math.min(step.tiles, step.participants - 1))],
  ['frames/s', ({ outcome }) => outcome.window.deliveriesPerSecond.toFixed(0)],
  ['RTT p50, p95 ms', ({ outcome: { rttMs } }) => `${digits(rttMs.p50)}, ${digits(rttMs.p95)}`],
  ['jitter p50, p95 ms', ({ outcome: { jitterMs } }) => `${digits(jitterMs.p50)}, ${digits(jitterMs.p95)}`],
  [
    'delay p50, p95, p99 ms',
    ({ outcome: { delayMs } }) => [delayMs.p50, delayMs.p95, delayMs.p99].map(digits).join(', '),
  ],
  ['lost', ({ outcome }) => lost(outcome.loss.share)],
  ['of one p50, p95', ({ outcome: { loss } }) => `${lost(loss.p50)}, ${lost(loss.p95)}`],
  ['freezes', ({ outcome: { freezes } }) => String(freezes.count)],
  ['late', ({ outcome }) => String(outcome.lateJoins)],
  ['relays use', ({ outcome }) => outcome.uses.map(({ cpu }) => percent(cpu)).join(', ')],
  ['throttled', ({ outcome }) => outcome.uses.map(({ throttled }) => percent(throttled)).join(', ')],
  ['RSS MB', ({ outcome }) => outcome.uses.map(({ residentMb }) => digits(residentMb)).join(', ')],
  ['generator', ({ outcome }) => percent(outcome.generator.share)],
  ['others', ({ outcome }) => percent(outcome.othersUse)],
  ['full', ({ outcome, step }) => saturated(outcome, step)],
  ['', ({ verdict }) => verdictText(verdict) ?? ''],
];

export function tableOf(title: string, runs: readonly Run[]): string {
  const lines = runs.map((run) => COLUMNS.map(([, cell]) => cell(run)));
  return [title, ...aligned([COLUMNS.map(([head]) => head), ...lines])].join('\n');
}

/** Steps during which other programs were at work: their delays are those programs' as well. */
export function doubtsOf(runs: readonly Run[]): string[] {
  const loud = runs.filter(({ outcome }) => outcome.othersUse > QUIET_CORES);
  if (loud.length === 0) return [];
  const most = Math.max(...loud.map(({ outcome }) => outcome.othersUse));
  const rooms = loud.map(({ step }) => `${step.participants} on ${step.relays}`).join(', ');
  return [
    `DOUBT: other programs used up to ${digits(most)} cores during ${rooms}. Run it again on a quiet machine.`,
  ];
}

export function ratioText({ one, two, ratio, reached, isCut }: Ratio): string {
  const limit = `each relay limited to ${percent(SEARCH.cpu)} of a processor`;
  const verdict = Number.isNaN(ratio)
    ? 'no result'
    : `x ${ratio.toFixed(2)}, goal ${GOAL}: ${reached ? 'reached' : 'MISSED'}`;
  const cut = isCut ? '; the generator was saturated: two may carry more' : '';
  return `${limit}: one carries ${one} people, two ${two}: ${verdict}${cut}`;
}
