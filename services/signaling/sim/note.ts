import type { History } from './history.ts';

/** Runs an event and writes it down for the report of a failure. */
export function note(history: History, what: string, event: () => void): void {
  history.events.push(`${history.world.now} ms: ${what}`);
  event();
}
