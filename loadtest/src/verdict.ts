/** Whether a run may be called a result. */
import type { Outcome } from './job.ts';

/** Above this share of its core the generator measures itself. */
export const GENERATOR_LIMIT = 0.8;

/** A generator whose timers are later than this sends in bursts what its clients would have sent one by one, and bursts cost a server less. */
export const LATE_LIMIT_MS = 100;

/** Cores. Other programs, or the hypervisor, at work are no reason to throw a figure away, but a reason not to believe it to the digit. */
export const QUIET_CORES = 0.25;

export type Verdict =
  | { readonly verdict: 'valid' }
  | { readonly verdict: 'void'; readonly why: string }
  | { readonly verdict: 'failed'; readonly why: string };

export function judge(outcome: Outcome): Verdict {
  const [failure] = outcome.failures;
  if (failure !== undefined) return { verdict: 'failed', why: failure };
  const delivered = deliveredRatio(outcome);
  if (delivered !== 1) return { verdict: 'failed', why: `delivered ratio ${delivered.toFixed(6)}` };
  if (outcome.done === 0) return { verdict: 'failed', why: 'nothing was completed' };
  const { generatorUse, generatorLateMs } = outcome.spent;
  // Memory is read when nothing is sent.
  if (outcome.memoryKb === undefined && !(generatorLateMs <= LATE_LIMIT_MS))
    return { verdict: 'void', why: `the generator was ${generatorLateMs.toFixed(0)} ms late` };
  return verdictOf([], generatorUse);
}

/** Failed if anything was wrong; void if the generator used too much of its core, or an unknown share. */
export function verdictOf(wrong: readonly string[], generatorUse: number): Verdict {
  if (wrong.length > 0) return { verdict: 'failed', why: wrong.join(', ') };
  if (!(generatorUse <= GENERATOR_LIMIT)) {
    return { verdict: 'void', why: `the generator used ${(100 * generatorUse).toFixed(0)} % of its core` };
  }
  return { verdict: 'valid' };
}

/** Which of these counts, all of which must be 0, are not. */
export function wrongCounts<Name extends string>(
  names: readonly Name[],
  counts: Readonly<Record<Name, number>>,
): string[] {
  return names.filter((name) => counts[name] > 0).map((name) => `${counts[name]} ${name}`);
}

/** `undefined` for a valid run. */
export const verdictText = (verdict: Verdict): string | undefined =>
  verdict.verdict === 'valid' ? undefined : `${verdict.verdict.toUpperCase()}: ${verdict.why}`;

/** Why the first run that is not valid is not; `undefined` if all are. */
export const notValid = (runs: readonly { readonly verdict: Verdict }[]): string | undefined =>
  runs.map(({ verdict }) => verdictText(verdict)?.replace(':', '')).find((text) => text !== undefined);

/** Received over sent, those left out whose reader had gone. */
export function deliveredRatio({ sent, received, excused }: Outcome): number {
  const due = sent - excused;
  return due === received ? 1 : received / due;
}
