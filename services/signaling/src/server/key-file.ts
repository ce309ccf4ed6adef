/** Follows the file of the key set, which Kubernetes replaces when an operator changes the Secret. SPEC rule KEY-8. */
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { setTimeout as pause } from 'node:timers/promises';

/** Kubernetes itself takes about a minute to bring a changed Secret to a node. */
const READ_EVERY_MS = 10_000;

export interface KeyFile {
  readonly file: string;
  /** The set that the pod started with. */
  readonly keySet: unknown;
  /** Takes another set in place of the one before; throws, and changes nothing, where it is not valid. */
  readonly useKeys: (keySet: unknown) => void;
  readonly log: Logger;
  readonly everyMs?: number;
}

/** Reads the file until it is closed. A set that is not valid, or a file that cannot be read, is logged once and changes nothing. */
export function followKeyFile(followed: KeyFile): { close(): void } {
  const ended = new AbortController();
  void follow(followed, ended.signal);
  return { close: () => ended.abort() };
}

async function follow(
  { file, keySet, useKeys, log, everyMs = READ_EVERY_MS }: KeyFile,
  signal: AbortSignal,
): Promise<void> {
  let [known, problem] = [JSON.stringify(keySet), ''];
  const look = async (): Promise<void> => {
    const set: unknown = JSON.parse(await readFile(file, 'utf8'));
    const text = JSON.stringify(set);
    if (text === known) return;
    useKeys(set);
    known = text;
    log.info({ keys: idsOf(set) }, 'the key set was replaced');
  };
  while (!signal.aborted) {
    // Rejects when it is aborted, which ends the loop.
    await pause(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    await look().then(
      () => (problem = ''),
      (error: unknown) => {
        const reason = reasonOf(error);
        if (reason !== problem) log.warn({ file, reason }, 'the key set was not replaced');
        problem = reason;
      },
    );
  }
}

/** The ids of its keys, the one that signs first. The set is valid. */
function idsOf(keySet: unknown): string[] {
  const { active, keys } = keySet as { active: string; keys: { kid: string }[] };
  return [active, ...keys.map(({ kid }) => kid).filter((kid) => kid !== active)];
}

/** A SyntaxError quotes the text, which has private keys. */
function reasonOf(error: unknown): string {
  return error instanceof SyntaxError ? 'the file is not JSON' : (error as Error).message;
}
