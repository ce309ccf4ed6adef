/** The conditions that must hold for the call and the stack during and after the attacks. */
import { cappedStall } from '@parley/e2e/support/stalls.ts';
import type { CallReport, Moment } from './call/plan.ts';
import type { States } from './processes.ts';

export interface Finding {
  readonly name: string;
  readonly rules: readonly string[];
  /** The fault; undefined if the condition holds. */
  readonly wrong: string | undefined;
  readonly figures: string;
  readonly tookMs: number;
  /** Unix ms. */
  readonly began: number;
}

export interface Bounds {
  readonly frameGapMs: number;
  readonly chatMs: number;
  readonly newcomerMs: number;
  /** By the prefix of a process' name. */
  readonly memoryMb: Readonly<Record<string, number>>;
  readonly logBytes: number;
}

/** A frame more than a second late is a freeze that people notice; the limits of memory are those of the chart's containers. */
export const USUAL_BOUNDS: Bounds = {
  frameGapMs: 1000,
  chatMs: 1000,
  newcomerMs: 1000,
  memoryMb: { signaling: 512, relay: 512, envoy: 512, coturn: 256, nats: 256, web: 256 },
  logBytes: 20_000_000,
};

/** The first frames of the four have no predecessor, and the last are on their way when the call ends. */
const DELIVERED = 0.95;

export function judgeCall(report: CallReport, bounds: Bounds, during: (at: number) => string): Finding[] {
  const ms = (value: number): string => `${Math.round(value)} ms`;
  // A measurement is no more exact than the timers of the process that made it, which may stall for `MAX_STALL_MS`.
  const stalledMs = cappedStall(report.ownDelayMaxMs);
  const worse = (what: string, { ms: value, at }: Moment, bound: number): string[] =>
    value - stalledMs > bound ? [`${what} ${ms(value)}, at most ${ms(bound)}, during ${during(at)}`] : [];
  const frames = [
    ...worse('a gap of', report.gapMax, bounds.frameGapMs),
    ...(report.framesReceived < report.framesSent * DELIVERED
      ? [`${report.framesReceived} of ${report.framesSent} frames arrived`]
      : []),
  ];
  const chat = [
    ...worse('a line took', report.chatMax, bounds.chatMs),
    ...(report.chatLines === 0 ? ['no lines'] : []),
  ];
  const newcomers = [
    ...worse('a newcomer took', report.newcomerMax, bounds.newcomerMs),
    ...report.newcomerFailures,
    ...(report.newcomers === 0 ? ['no newcomers'] : []),
  ];
  const finding = (name: string, rules: string[], wrong: readonly string[], figures: string): Finding => ({
    name,
    rules,
    wrong: wrong.length === 0 ? undefined : wrong.slice(0, 5).join('; '),
    figures,
    tookMs: report.seconds * 1000,
    began: 0,
  });
  return [
    finding(
      'call-frames',
      ['DIR-4'],
      frames,
      `${report.framesReceived} of ${report.framesSent} frames, p99 ${ms(report.gapP99Ms)}, max ${ms(report.gapMax.ms)}`,
    ),
    finding(
      'call-chat',
      ['CHAT-2'],
      chat,
      `${report.chatLines} lines, p50 ${ms(report.chatP50Ms)}, max ${ms(report.chatMax.ms)}`,
    ),
    finding('call-undisturbed', ['ROS-2'], report.disturbances, 'away, left, closed and error: none'),
    finding(
      'call-newcomers',
      ['JOIN-9'],
      newcomers,
      `${report.newcomers} newcomers, p50 ${ms(report.newcomerP50Ms)}, max ${ms(report.newcomerMax.ms)}`,
    ),
  ];
}

export function judgeProcesses(
  before: States,
  after: States,
  peak: ReadonlyMap<string, number>,
  bounds: Bounds,
): Finding[] {
  const names = Object.keys(before);
  const restarts = names.filter((name) => before[name]?.startTicks !== after[name]?.startTicks);
  const memory = names.flatMap((name) => {
    const bound = bounds.memoryMb[name.split('-')[0] ?? ''] ?? 0;
    const most = peak.get(name) ?? 0;
    return most > bound ? [`${name} had ${most} MB, at most ${bound}`] : [];
  });
  const logged = (name: string): number => (after[name]?.logBytes ?? 0) - (before[name]?.logBytes ?? 0);
  const logs = names.flatMap((name) =>
    logged(name) > bounds.logBytes ? [`${name} logged ${logged(name)} bytes`] : [],
  );
  const finding = (name: string, wrong: readonly string[], figures: string): Finding => ({
    name,
    rules: [],
    wrong: wrong.length === 0 ? undefined : wrong.join('; '),
    figures,
    tookMs: 0,
    began: 0,
  });
  return [
    finding(
      'no-restarts',
      restarts.map((name) => `${name} is not the process that it was`),
      `${names.length} processes`,
    ),
    finding(
      'memory-bounded',
      memory,
      names
        .map((name) => `${name} ${before[name]?.rssMb}→${after[name]?.rssMb} (most ${peak.get(name)}) MB`)
        .join(', '),
    ),
    finding(
      'logs-bounded',
      logs,
      names.map((name) => `${name} ${Math.round(logged(name) / 1000)} kB`).join(', '),
    ),
  ];
}
