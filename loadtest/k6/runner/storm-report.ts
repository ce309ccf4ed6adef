/** What a run with an event says, for people and for docs/evaluation. */
import { aligned, digits } from '../../src/columns.ts';
import { describeMachine } from '../../src/machine.ts';
import { barOf, plot } from '../../src/plot.ts';
import { publish } from '../../src/publish.ts';
import { QUIET_CORES } from '../../src/verdict.ts';
import type { StormProfile } from '../profiles/storm.ts';
import type { CrowdProgress, CrowdReport, Times } from './crowd.ts';
import type { Metric, Metrics } from './generator.ts';
import type { Reading } from './meter.ts';
import { publishedMetrics } from './report.ts';

/** CPU of a stretch of time. */
export interface StretchUse {
  readonly wallMs: number;
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Shares of one core. */
  readonly cores: Readonly<Record<string, number>>;
  /** What else ran on the machine, in cores. */
  readonly others: number;
}

export interface StormUse {
  /** All arrive. */
  readonly arrival: StretchUse;
  /** All are in their rooms, and nothing happens. */
  readonly steady: StretchUse;
  /** From the event to the end. */
  readonly event: StretchUse;
}

export interface StormResult {
  readonly name: string;
  readonly scale: number;
  readonly profile: StormProfile;
  /** Limits of the stack that were raised. */
  readonly limits: Readonly<Record<string, string>>;
  readonly use: StormUse;
  readonly before: readonly number[];
  readonly atEnd: number;
  readonly metrics: Metrics;
  readonly crowd: CrowdReport;
  readonly progress: readonly CrowdProgress[];
}

/** Of readings at the beginning, the last arrival, the event and the end; of two, the stretch between them is the event. */
export function useOf(readings: readonly Reading[]): StormUse {
  const stretch = (from: Reading | undefined, to: Reading | undefined): StretchUse => {
    const wallMs = (to?.atMs ?? 0) - (from?.atMs ?? 0);
    const spent = Object.entries(to?.cpuMs ?? {}).map(([part, ms]): [string, number] => [
      part,
      ms - (from?.cpuMs[part] ?? 0),
    ]);
    const known = spent.reduce((sum, [, ms]) => sum + ms, 0);
    return {
      wallMs,
      cpuMs: Object.fromEntries(spent),
      cores: Object.fromEntries(spent.map(([part, ms]) => [part, ms / wallMs])),
      others: Math.max(0, (to?.machineMs ?? 0) - (from?.machineMs ?? 0) - known) / wallMs,
    };
  };
  return {
    arrival: stretch(readings[0], readings[1]),
    steady: stretch(readings[1], readings[2]),
    event: stretch(readings.at(-2), readings.at(-1)),
  };
}

const SERVICE = ['pods', 'NATS', 'Envoy'] as const;
const GENERATORS = ['k6', 'crowd'] as const;
const percent = (share: number): string => `${digits(100 * share)} %`;

export function stormReport(result: StormResult): string {
  const { name, scale, profile, use, before, atEnd, metrics, crowd } = result;
  const { cores, cpu, memoryGb, kernel, node } = describeMachine();
  const count = (metric: string): number => metrics[metric]?.values['count'] ?? 0;
  const others = Math.max(use.arrival.others, use.event.others);
  return [
    `Herd "${name}": ${profile.people} people, ${profile.vus} of them k6${scale === 1 ? '' : `, scaled by ${scale}`}; ${profile.event}`,
    `${cores} cores of ${cpu}, ${memoryGb} GB, Linux ${kernel}, node ${node}; nothing is pinned, other programs used up to ${digits(others)} cores`,
    '',
    ...aligned(costLines(result)),
    '',
    ...aligned([
      ['ms', 'times', 'p50', 'p95', 'p99', 'max'],
      ofK6('answer to a join, k6', metrics['answer_ms']),
      ofCrowd('answer to a join, crowd', crowd.answerMs),
      ofK6('back, k6', metrics['back_ms']),
      ofCrowd('back, crowd', crowd.backMs),
      ofK6('message', metrics['message_ms']),
      ofK6('k6 late', metrics['late_ms']),
      ofCrowd('crowd late', crowd.lateMs),
    ]),
    '',
    `Before: ${before.join(' and ')} on the pods; at the end: ${atEnd} in their rooms`,
    `k6: ${count('losses')} sockets lost, ${count('errors')} errors, ${count('full')} found the room full, ${count('slots')} slots, ${count('waits')} waits; ${count('messages_received')} of ${count('messages_sent')} messages received and checked, ${count('undelivered')} reported undelivered`,
    `Crowd: sockets lost: ${codes(crowd.losses)}; attempts refused: ${codes(crowd.refusals)}; errors: ${codes(crowd.errors)}; ${crowd.lost} people lost; ${crowd.answers.tickets} tickets, ${crowd.answers.slots} slots, ${crowd.answers.full} full, ${crowd.waits} waits`,
    ...(others > QUIET_CORES
      ? [
          `DOUBT: other programs used up to ${digits(others)} cores. Trust no digit; run it on a quiet machine.`,
        ]
      : []),
  ].join('\n');
}

/** CPU of each part: in the steady stretch as a share of a core, and after the event as seconds; each per 1,000 people. */
function costLines({ profile, use }: StormResult): string[][] {
  const thousands = profile.people / 1000;
  const line = (part: string): string[] => [
    part,
    digits((use.arrival.cpuMs[part] ?? 0) / 1000 / thousands),
    percent((use.steady.cores[part] ?? 0) / thousands),
    digits((use.event.cpuMs[part] ?? 0) / 1000 / thousands),
    percent(use.event.cores[part] ?? 0),
  ];
  return [
    [
      'per 1,000 people',
      'arrival, CPU s',
      'steady, of a core',
      'after the event, CPU s',
      'in all, of a core',
    ],
    ...[...SERVICE, ...GENERATORS].map(line),
  ];
}

const ofCrowd = (label: string, { count, p50, p95, p99, max }: Times): string[] => [
  label,
  String(count),
  ...[p50, p95, p99, max].map(digits),
];

const ofK6 = (label: string, metric: Metric | undefined): string[] => [
  label,
  String(metric?.values['count'] ?? 0),
  ...['med', 'p(95)', 'p(99)', 'max'].map((key) => digits(metric?.values[key] ?? Number.NaN)),
];

const codes = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([code, times]) => `${times} ${code}`)
    .join(', ') || 'none';

/** Writes the figures where the documentation shows them. */
export function publishStorm(result: StormResult): void {
  const { pinned: _, ...machine } = describeMachine();
  const report = { machine, ...result, metrics: publishedMetrics(result.metrics) };
  publish(`herd-${result.name}`, report, stormPicture(result));
}

export function stormPicture(result: StormResult): string {
  const { name, profile, use, crowd } = result;
  const isDoors = profile.goals.answerMs !== undefined;
  const times = isDoors ? crowd.answerMs : crowd.backMs;
  const goal = profile.goals.answerMs ?? profile.goals.backMs;
  const thousands = profile.people / 1000;
  return plot(
    [
      {
        title: isDoors ? 'Answer to a join, ms' : 'From the loss of a socket to the welcome, ms',
        note: `of the crowd, ${times.count} times; the goal at p99 is ${goal}`,
        bars: (['p50', 'p95', 'p99', 'max'] as const).map((key) => barOf(key, times[key], true)),
      },
      {
        title: 'CPU seconds per 1,000 people after the event',
        note: `in ${digits(use.event.wallMs / 1000)} s; grey: the generators`,
        bars: [...SERVICE, ...GENERATORS].map((part) =>
          barOf(
            part,
            (use.event.cpuMs[part] ?? 0) / 1000 / thousands,
            SERVICE.some((ours) => ours === part),
          ),
        ),
      },
    ],
    {
      label: `The herd "${name}"`,
      foot: `${profile.people} people, two pods, two edges, one machine with the generators`,
    },
  );
}
