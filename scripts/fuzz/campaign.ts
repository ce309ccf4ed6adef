/** One target's run: its corpus first, then inputs from a seed until the budget of inputs or of time is used, or one fails. */
import * as fc from 'fast-check';
import type { Kept } from './corpus.ts';
import { DEFAULT_MS, type Target } from './target.ts';

export interface Budget {
  readonly seed: number;
  /** Whichever is reached first. */
  readonly runs: number;
  readonly ms: number;
}

export interface Outcome {
  readonly executions: number;
  /** How many inputs the decoder took. */
  readonly taken: number;
  readonly failure: Failure | null;
}

export interface Failure {
  readonly input: Uint8Array;
  readonly why: string;
  /** The file of the corpus; `null` where the input is new. */
  readonly kept: string | null;
}

/** Inputs of one seed; the next thousand have the next seed. */
const ROUND = 1000;
const SHRINK_MS = 20_000;
/** A single slow run may be the machine's. */
const TIMED_AGAIN = 3;

/** `watch` is called with each input before it is tried, so that one on which the decoder hangs is known. */
export async function campaign(
  target: Target,
  corpus: readonly Kept[],
  budget: Budget,
  watch: (input: Uint8Array, executions: number) => void,
): Promise<Outcome> {
  const until = performance.now() + budget.ms;
  let executions = 0;
  let taken = 0;
  const attempt = async (input: Uint8Array): Promise<void> => {
    executions += 1;
    watch(input, executions);
    const { tookMs, isTaken } = await timed(target, input);
    if (isTaken) taken += 1;
    const maxMs = target.ms ?? DEFAULT_MS;
    if (tookMs <= maxMs) return;
    let least = tookMs;
    for (let again = 0; again < TIMED_AGAIN; again += 1)
      least = Math.min(least, (await timed(target, input)).tookMs);
    if (least > maxMs)
      throw new Error(`takes ${Math.round(least)} ms for ${input.length} bytes, not ${maxMs}`);
  };
  for (const { name, bytes } of corpus) {
    try {
      await attempt(bytes);
    } catch (error) {
      return { executions, taken, failure: { input: bytes, why: described(error), kept: name } };
    }
  }
  const property = fc.asyncProperty(target.inputs, attempt);
  for (let round = 0; executions < budget.runs + corpus.length && performance.now() < until; round += 1) {
    const numRuns = Math.min(ROUND, budget.runs + corpus.length - executions);
    const shrinkUntil = until + SHRINK_MS;
    const result = await fc.check(property, {
      seed: budget.seed + round,
      numRuns,
      interruptAfterTimeLimit: Math.max(1, shrinkUntil - performance.now()),
      skipEqualValues: false,
    });
    const [input] = result.counterexample ?? [];
    if (result.failed && input !== undefined) {
      return { executions, taken, failure: { input, why: described(result.errorInstance), kept: null } };
    }
  }
  return { executions, taken, failure: null };
}

/** In ms. The input is copied: a check may keep or change it. */
async function timed(
  { check }: Target,
  input: Uint8Array,
): Promise<{ readonly tookMs: number; readonly isTaken: boolean }> {
  const copy = new Uint8Array(input);
  const startedAt = performance.now();
  const isTaken = await check(copy);
  return { tookMs: performance.now() - startedAt, isTaken };
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error.stack ?? error.message).split('\n').slice(0, 12).join('\n');
}
