/** What the runner and the thread of a target share. */
import type { Budget } from './campaign.ts';
import type { Target } from './target.ts';

export interface Job {
  readonly file: string;
  readonly target: string;
  readonly budget: Budget;
  readonly shared: SharedArrayBuffer;
}

/** Of what a target file exports. */
export interface TargetFile {
  readonly targets: readonly Target[];
}

/** Two numbers, executions so far and the length of the input that is tried; then the input. */
export const SHARED_HEAD = 8;
export const SHARED_BYTES = 1 << 20;
