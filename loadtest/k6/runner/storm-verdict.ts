/** Whether a run with an event is valid, void or failed. */
import { digits } from '../../src/columns.ts';
import { GENERATOR_LIMIT } from '../../src/verdict.ts';
import { toleratedOf, type StormProfile } from '../profiles/storm.ts';
import type { CrowdReport } from './crowd.ts';
import type { Metrics } from './generator.ts';
import { crossedOf, LATENESS, type HerdVerdict } from './report.ts';

export interface StormOutcome {
  readonly profile: StormProfile;
  readonly metrics: Metrics;
  readonly crowd: CrowdReport;
  /** Participants on each pod, as the pods say, just before the event. */
  readonly before: readonly number[];
  /** On all pods, just before all leave. */
  readonly atEnd: number;
  /** The share of a core that k6 used from the event to the end. */
  readonly k6Use: number;
}

export function judgeStorm(outcome: StormOutcome): HerdVerdict {
  const crossed = crossedOf(outcome.metrics);
  const late = crossed.filter((threshold) => threshold.startsWith(LATENESS));
  if (outcome.crowd.void) {
    const { lateMs, generator } = outcome.crowd;
    late.push(
      `the crowd was late (p95 ${digits(lateMs.p95)} ms) or busy (${digits(100 * generator.share)} % of a core)`,
    );
  }
  if (!(outcome.k6Use <= GENERATOR_LIMIT)) late.push(`k6 used ${digits(100 * outcome.k6Use)} % of a core`);
  const wrong = [...crossed, ...crowdFaults(outcome), ...peopleFaults(outcome), ...messageFaults(outcome)];
  if (late.length > 0) return { verdict: 'void', why: [...new Set([...late, ...wrong])] };
  return wrong.length > 0 ? { verdict: 'failed', why: wrong } : { verdict: 'valid' };
}

/** Limits that refused people who wanted back, errors, and goals that the crowd missed. */
function crowdFaults({ profile, crowd }: StormOutcome): string[] {
  const { goals } = profile;
  const tolerated = toleratedOf(profile);
  const codes = (what: string, of: Readonly<Record<string, number>>): string[] =>
    Object.entries(of).map(([code, times]) => `${times} ${what} ${code} in the crowd`);
  const honest = Object.entries(crowd.refusals).filter(([code]) => !tolerated.includes(code));
  const goal = (name: string, { count, p99 }: CrowdReport['backMs'], ms: number | undefined): string[] => {
    if (ms === undefined) return [];
    if (count === 0) return [`none of the crowd was ${name}`];
    return p99 < ms ? [] : [`the crowd was ${name} after p99 ${digits(p99)} ms, not within ${ms}`];
  };
  return [
    ...(crowd.lost > 0 ? [`${crowd.lost} of the crowd lost`] : []),
    ...codes('errors', crowd.errors),
    ...codes('refusals', Object.fromEntries(honest)),
    ...goal('back', crowd.backMs, goals.backMs),
    ...goal('answered', crowd.answerMs, goals.answerMs),
  ];
}

/** All are in a room at the end, and only participants of a killed pod lost a socket. */
function peopleFaults({ profile, metrics, crowd, before, atEnd }: StormOutcome): string[] {
  const count = (metric: string): number => metrics[metric]?.values['count'] ?? 0;
  if (profile.oneRoom) {
    const answered = count('joins') + count('full') + crowd.present.here + crowd.present.full;
    return answered === profile.people
      ? []
      : [`${answered} of ${profile.people} are in, or were answered that it is full`];
  }
  const losses = count('losses') + Object.values(crowd.losses).reduce((sum, times) => sum + times, 0);
  const [killed = 0] = before;
  const faults: string[] = [];
  if (atEnd !== profile.people) faults.push(`${atEnd} of ${profile.people} are in their rooms at the end`);
  if (profile.event === 'pod-killed' && losses !== killed)
    faults.push(`${losses} sockets were lost, and ${killed} people were on the pod`);
  return faults;
}

/** In a call that goes on undisturbed every message arrives. */
function messageFaults({ profile, metrics }: StormOutcome): string[] {
  if (profile.goals.messageMs === undefined) return [];
  const count = (metric: string): number => metrics[metric]?.values['count'] ?? 0;
  const [sent, received] = [count('messages_sent'), count('messages_received')];
  return sent === received && sent > 0 ? [] : [`${received} of ${sent} messages arrived`];
}
