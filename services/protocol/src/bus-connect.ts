/** The first connection of a pod to NATS, which may come later than the pod. SPEC rule BUS-14. */
import { setTimeout as pause } from 'node:timers/promises';

const RETRY_MS = 200;
const JITTER_MS = 300;
/** A reason is given again after this time, in ms: a pod that waits is not silent. */
const SAID_AGAIN_MS = 30_000;
/** The reasons that are remembered. There are fewer: one or two for each server. */
const REASONS = 32;

/**
 * Attempts to connect until one succeeds, and resolves with the connection. Reports why an attempt failed: each reason at once,
 * and again every 30 s. The attempt must not wait by itself (`waitOnFirstConnect`), as its reason would be lost.
 */
export async function connectInTheEnd<Connection>(
  attempt: () => Promise<Connection>,
  onFailure: (reason: string) => void,
): Promise<Connection> {
  const saidAt = new Map<string, number>();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const reason = reasonOf(error);
      const now = performance.now();
      if (now - (saidAt.get(reason) ?? -Infinity) >= SAID_AGAIN_MS) {
        if (saidAt.size >= REASONS) saidAt.clear();
        saidAt.set(reason, now);
        onFailure(reason);
      }
    }
    await pause(RETRY_MS + Math.random() * JITTER_MS);
  }
}

/** The messages of an error and of its causes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : reasonOf(error.cause);
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
