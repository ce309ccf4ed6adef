/** Waits for something that can only be seen by looking: asks at intervals, with a deadline. */
import { setTimeout as pause } from 'node:timers/promises';

export interface UntilOptions {
  readonly withinMs: number;
  readonly everyMs?: number;
  readonly what: () => string;
}

export async function until(
  isSo: () => Promise<boolean> | boolean,
  { withinMs, everyMs = 250, what }: UntilOptions,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms for ${what()}`);
    await pause(everyMs);
  }
}
