/**
 * Moves all clients to other pods without overloading those: clients leave in batches, each at its time, and a client that has not left some time
 * after its batch is closed. A small pod drains at a fixed rate; a large one within `drain.window`. SPEC rule RES-8.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Code } from '@parley/protocol/codes';

/** A socket of a room or of pages. */
interface Movable {
  goaway(afterMs: number): void;
  end(code: Code): void;
}

const BATCH_EVERY_MS = 200;
/** 250 clients a second: a load that the receiving pods do not notice. */
const MIN_BATCH = 50;
/** A client that leaves by itself does so within this time, also over a slow link. */
const AFTER_SLOT_MS = 1000;

/** Resolves when all sockets are closed; `force` closes the remaining ones at once. */
export async function moveClients(
  sockets: readonly Movable[],
  windowMs: number,
  force: AbortSignal,
): Promise<void> {
  const size = batchSize(sockets.length, windowMs);
  const closing: Promise<void>[] = [];
  for (let at = 0; at < sockets.length && !force.aborted; at += size) {
    const batch = sockets.slice(at, at + size);
    for (const connection of batch) connection.goaway(Math.floor(Math.random() * BATCH_EVERY_MS));
    closing.push(closeAfterSlot(batch, force));
    await wait(BATCH_EVERY_MS, force);
  }
  await Promise.all(closing);
  for (const connection of sockets) connection.end('GOAWAY');
}

export function batchSize(sockets: number, windowMs: number): number {
  return Math.max(MIN_BATCH, Math.ceil((sockets * BATCH_EVERY_MS) / windowMs));
}

async function closeAfterSlot(batch: readonly Movable[], force: AbortSignal): Promise<void> {
  await wait(BATCH_EVERY_MS + AFTER_SLOT_MS, force);
  for (const connection of batch) connection.end('GOAWAY');
}

async function wait(ms: number, force: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal: force });
  } catch {
    // `force` ended the wait.
  }
}
