/** The media relays of a stack: their sessions, and the gap that a viewer has when one ends. */
import type { Stack } from '@parley/local/stack';
import type { LiveWatcher } from './live.ts';
import { until } from './until.ts';

const WITHIN_MS = 30_000;
/** Two seconds of pictures, after which playback counts as stable. */
const STEADY_FRAMES = 20;

export interface RelayAnswer {
  readonly broadcast: string;
  readonly relay: { readonly url: string; readonly certificateHashes: readonly string[] };
}

export async function requestRelay({ endpoints }: Stack, name: string): Promise<RelayAnswer> {
  const answer = await fetch(`${endpoints.api}/live/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  if (!answer.ok) throw new Error(`the relay of ${name}: ${answer.status}`);
  return (await answer.json()) as RelayAnswer;
}

/** Resolves when no client has a session. */
export function allSessionsEnded({ endpoints }: Stack): Promise<void> {
  return sessionsBecome(
    endpoints.relays,
    endpoints.relays.map(() => 0),
  );
}

/**
 * Resolves when clients have this many sessions with each relay. One that tries two transports and closes the later one
 * may leave a session that the relay ends after ten seconds, like that of a client that vanished.
 */
export async function sessionsBecome(relays: readonly string[], wanted: readonly number[]): Promise<void> {
  let counts: readonly number[] = [];
  await until(
    async () => {
      counts = await clientsOf(relays);
      return counts.join() === wanted.join();
    },
    { withinMs: WITHIN_MS, what: () => `${wanted.join()} sessions, not ${counts.join()}` },
  );
}

const KNOWN =
  /^(?:parley_media_relays|envoy_cluster_membership_healthy\{envoy_cluster_name="media"\}) (\d+)$/m;

/** After its restart a relay is known to a pod once the pod received its lease, and the edge routes to it after a health check. */
async function allRelaysKnown({ endpoints }: Stack): Promise<void> {
  let counts: readonly number[] = [];
  await until(
    async () => {
      const texts = await Promise.all(endpoints.metrics.map(async (page) => (await fetch(page)).text()));
      counts = texts.flatMap((text) => KNOWN.exec(text)?.[1] ?? []).map(Number);
      const sources = endpoints.pods.length + 1;
      return counts.length === sources && counts.every((count) => count === endpoints.relays.length);
    },
    { withinMs: WITHIN_MS, what: () => `the pods and the edge to know all relays: ${counts.join()}` },
  );
}

/** The sessions of the test before have ended, and a relay that it restarted is known to all. */
export async function relaysAreReady(stack: Stack): Promise<void> {
  await allSessionsEnded(stack);
  await allRelaysKnown(stack);
}

/** The relay of all sessions: pages that do not ask for another relay all get the same one. */
export async function relayInUse({ endpoints }: Stack): Promise<string> {
  const counts = await clientsOf(endpoints.relays);
  const at = counts.findIndex((count) => count > 0);
  if (at === -1 || counts.some((count, other) => count > 0 && other !== at))
    throw new Error(`clients of the relays: ${counts.join()}`);
  return `relay-${at + 1}`;
}

/** The number of sessions of clients of each relay. */
export function clientsOf(relays: readonly string[]): Promise<number[]> {
  return Promise.all(relays.map(clientsAt));
}

async function clientsAt(relay: string): Promise<number> {
  const text = await (await fetch(`${relay}/metrics`)).text();
  const found = text.matchAll(/^parley_media_sessions\{[^}]*kind="client"[^}]*\} (\d+)$/gm);
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Ends a relay, and waits until its process is gone. */
export async function end(stack: Stack, relay: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const url = stack.endpoints.processes[relay]?.url;
  stack.kill(relay, signal);
  const answers = () =>
    fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
  await until(async () => !(await answers()), { withinMs: WITHIN_MS, what: () => `the end of ${relay}` });
}

/** The longest time without a new picture, in milliseconds, while something happens and until they come steadily after it. */
export async function longestGap(watcher: LiveWatcher, happens: () => Promise<void>): Promise<number> {
  const begun = await watcher.now();
  await happens();
  const over = await watcher.now();
  let frames: readonly number[] = [];
  await until(
    async () => {
      frames = await watcher.frames(begun);
      return frames.filter((at) => at > over).length > STEADY_FRAMES;
    },
    { withinMs: WITHIN_MS, what: () => `pictures that come steadily: ${frames.length} in all` },
  );
  return Math.max(...frames.map((at, nth) => at - (frames[nth - 1] ?? begun)));
}
