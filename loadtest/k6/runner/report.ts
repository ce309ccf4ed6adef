/** What a run of the herd says, for people and for docs/evaluation. */
import { writeFileSync } from 'node:fs';
import { commitOf } from '@parley/local/commit';
import { fileURLToPath } from 'node:url';
import { aligned, digits } from '../../src/columns.ts';
import { describeMachine } from '../../src/machine.ts';
import { GENERATOR_LIMIT } from '../../src/verdict.ts';
import type { HerdSize } from '../lib/plan.ts';
import type { HerdProfile } from '../profiles/herd.ts';
import type { Metric, Metrics } from './generator.ts';
import type { Use } from './watch.ts';

export interface HerdResult {
  readonly name: string;
  readonly profile: HerdProfile;
  readonly size: HerdSize;
  /** Limits of the stack that were raised. */
  readonly limits: Readonly<Record<string, string>>;
  /** Over the steady part. */
  readonly use: Use;
  /** Growth of anonymous memory from the idle stack to the end of the steady part. */
  readonly grownKb: Readonly<Record<string, number>>;
  /** At the end of the steady part, as the pods say. */
  readonly participants: number;
  /** Joins that were planned for the steady part. */
  readonly steadyJoins: number;
  /** Directed messages that took the bus, in the whole run. */
  readonly betweenPods: number;
  readonly metrics: Metrics;
}

export type HerdVerdict =
  { readonly verdict: 'valid' } | { readonly verdict: 'void' | 'failed'; readonly why: readonly string[] };

/** Whose lateness is the generator's own. */
export const LATENESS = 'late_ms';
/** Other programs at work are no reason to throw a run away, but one not to believe it to the digit. */
const QUIET_CORES = 0.25;

export function judge({ use, metrics }: Pick<HerdResult, 'use' | 'metrics'>): HerdVerdict {
  const crossed = crossedOf(metrics);
  const ownFault = crossed.filter((threshold) => threshold.startsWith(LATENESS));
  const generator = use.cores['k6'] ?? Number.NaN;
  if (!(generator <= GENERATOR_LIMIT)) ownFault.push(`k6 used ${percent(generator)} of a core`);
  if (ownFault.length > 0) return { verdict: 'void', why: [...new Set([...ownFault, ...crossed])] };
  return crossed.length > 0 ? { verdict: 'failed', why: crossed } : { verdict: 'valid' };
}

/** Each crossed threshold with the figure that crossed it. */
export function crossedOf(metrics: Metrics): string[] {
  return Object.entries(metrics).flatMap(([name, { values, thresholds = {} }]) =>
    Object.entries(thresholds).flatMap(([threshold, { ok }]) => {
      if (ok) return [];
      const figure = values[threshold.replace(/[<>=].*$/, '')];
      return [`${name} ${threshold}${figure === undefined ? '' : ` (it is ${digits(figure)})`}`];
    }),
  );
}

export function reportOf(result: HerdResult): string {
  const { name, profile, size, use, grownKb, participants, steadyJoins, betweenPods, metrics } = result;
  const { cores, cpu, memoryGb, kernel, node } = describeMachine();
  const [shortest, longest] = profile.stayMs;
  const count = (metric: string): number => metrics[metric]?.values['count'] ?? 0;
  const parts = Object.keys(grownKb);
  const service = parts.filter((part) => part !== 'Envoy');
  const together = (of: readonly string[], figures: Readonly<Record<string, number>>): number =>
    of.reduce((sum, part) => sum + (figures[part] ?? Number.NaN), 0);
  const cost = (label: string, of: readonly string[]): string[] => [
    label,
    percent(together(of, use.cores)),
    digits((together(of, use.cores) * use.wallMs) / steadyJoins),
    digits(together(of, grownKb) / participants),
  ];
  const timing = (label: string, metric: Metric | undefined): string[] => [
    label,
    ...['med', 'p(95)', 'p(99)', 'max'].map((key) => digits(metric?.values[key] ?? Number.NaN)),
  ];
  return [
    `Herd "${name}": ${profile.calls} calls of ${profile.callSize}, ${profile.callsPerSecond} begin in a second, stays of ${shortest / 1000} to ${longest / 1000} s, ${percent(profile.scatter)} on any pod`,
    `${cores} cores of ${cpu}, ${memoryGb} GB, Linux ${kernel}, node ${node}; nothing is pinned, other programs used ${digits(use.others)} cores`,
    `Steady part: ${digits(use.wallMs / 1000)} s, ${participants} people, ${digits((1000 * steadyJoins) / use.wallMs)} joins/s`,
    '',
    ...aligned([
      ['', 'of a core', 'CPU ms per join', 'KB per person'],
      ...parts.map((part) => cost(part, [part])),
      cost('pods and NATS', service),
      cost('all', parts),
      ['k6', percent(use.cores['k6'] ?? Number.NaN), '', ''],
    ]),
    '',
    ...aligned([
      ['ms', 'p50', 'p95', 'p99', 'max'],
      timing('join to welcome', metrics['join_ms']),
      timing('join to full roster', metrics['join_to_roster_ms']),
      timing('join to whole call', metrics['join_to_call_ms']),
      timing('offer, answer, candidate', metrics['signal_ms']),
      timing('generator late', metrics[LATENESS]),
    ]),
    '',
    `${count('joins')} of ${size.joins} joins, ${count('errors')} errors; ${count('signals_received')} of ${count('signals_sent')} directed messages received and checked, ${betweenPods} between pods; ${count('undelivered')} undelivered, ${count('undelivered_to_leavers')} to people who had just left`,
    ...(use.others > QUIET_CORES
      ? [`DOUBT: other programs used ${digits(use.others)} cores. Trust no digit; run it on a quiet machine.`]
      : []),
  ].join('\n');
}

const PUBLISHED = fileURLToPath(new URL('../../../docs/evaluation/', import.meta.url));

/** Writes the figures where the documentation shows them; answers the path. */
export function publish(result: HerdResult): string {
  const path = `${PUBLISHED}herd-${result.name}.json`;
  const { pinned: _, ...machine } = describeMachine();
  writeFileSync(
    path,
    `${JSON.stringify({ at: new Date().toISOString(), commit: commitOf(), machine, ...result, metrics: publishedMetrics(result.metrics) }, null, 2)}\n`,
  );
  return path;
}

/** Without codes that did not occur, and without k6's own figures. */
export function publishedMetrics(metrics: Metrics): Metrics {
  return Object.fromEntries(
    Object.entries(metrics).filter(
      ([name, { values, thresholds }]) =>
        (thresholds !== undefined && !name.includes('{')) ||
        /^(signals_|messages_|answer_ms$|back_ms$|message_ms$|losses$|slots$|waits$|full$|joins$)/.test(
          name,
        ) ||
        name.startsWith('undelivered') ||
        (name.includes('{code:') && (values['count'] ?? 0) > 0),
    ),
  );
}

const percent = (share: number): string => `${digits(100 * share)} %`;
