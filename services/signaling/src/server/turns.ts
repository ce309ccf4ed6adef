/**
 * Gives every `enter`, `resume` and join its turn, at the pace of the pod: measures the event loop, and informs and serves the sockets that wait. SPEC
 * rules LIM-13, LIM-20, JOIN-15, RES-13.
 */
import { randomBytes } from 'node:crypto';
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { Limits } from '@parley/protocol/limits';
import type { SocketId } from '../core/socket-id.ts';
import { ArrivalQueue } from './arrival-queue.ts';
import type { Budgets } from './budgets.ts';
import type { ByteAccount } from './byte-ledger.ts';
import type { Connection, Refused } from './connection.ts';
import { LATE_MS, TICK_MS } from './pace.ts';
import { Slots, type Later } from './slots.ts';

export interface TurnsParts {
  readonly limits: Limits;
  readonly budgets: Pick<Budgets, 'incomplete'>;
  readonly now: () => number;
}

interface Waiting {
  readonly connection: Connection;
  readonly go: (isTurn: boolean) => void;
  readonly account: ByteAccount;
}

/**
 * So many arrivals are served in one turn of the event loop, some 10 ms: messages of calls that came in the meantime are handled before the next
 * ones, however slow the processor is.
 */
const AT_ONCE = 16;
/** How often the estimates of those that wait are compared with what their clients were informed of. */
const REVIEW_EVERY_MS = 1000;
/** What a message costs in memory besides its texts. */
const MESSAGE_BYTES = 1024;
const LINE_BYTES = 256;

export class Turns {
  readonly queue: ArrivalQueue;
  readonly slots: Slots;
  readonly #parts: TurnsParts;
  readonly #waiting = new Map<SocketId, Waiting>();
  readonly #timer: NodeJS.Timeout;
  #nextServe: NodeJS.Immediate | undefined;
  #tickedAt: number;
  #reviewedAt: number;
  #stopped = false;

  constructor(parts: TurnsParts) {
    const { limits, now } = parts;
    this.#parts = parts;
    this.queue = new ArrivalQueue(limits, now());
    const source = { fraction: Math.random, id: () => randomBytes(16).toString('base64url') };
    this.slots = new Slots(limits, source, now());
    this.#tickedAt = now();
    this.#reviewedAt = now();
    this.#timer = setInterval(() => this.#tick(now()), TICK_MS);
  }

  /** Resolves to `true` when it is the turn of the socket, to `false` when the socket ended before, or to a refusal. */
  async wait(connection: Connection, message: Enter | Resume): Promise<Refused | boolean> {
    if (this.#stopped) return { code: 'NOT_READY' };
    const now = this.#parts.now();
    const isLate = now - this.#tickedAt > TICK_MS + LATE_MS;
    const turn = this.queue.arrive(connection.id, message.type, { now, isLate });
    if (turn === 'now') return true;
    const { full, afterMs } = turn;
    if (full) return { code: 'POD_FULL', retryAfterMs: afterMs };
    return new Promise((go) => {
      const end = (): void => connection.end('REASSEMBLY_LIMIT_EXCEEDED');
      const account = this.#parts.budgets.incomplete.open(connection.address, end);
      this.#waiting.set(connection.id, { connection, go, account });
      // Each of the two may end the socket.
      account.set(bytesOf(message));
      // Otherwise its turn comes with the next tick.
      if (afterMs > 0) connection.send({ type: 'wait', afterMs });
    });
  }

  /** The turn of an arrival that was refused before it cost more than its verification goes to the next. */
  giveBack(): void {
    this.queue.pace.giveBack();
  }

  /** The socket ended. */
  remove(socket: SocketId): void {
    this.queue.remove(socket);
    this.#continue(socket, false);
  }

  /** `undefined`: a join without a slot may continue now. */
  askToJoin(address: string): Later | undefined {
    const now = this.#parts.now();
    return this.slots.ask(address, this.queue.waitMs(now), now);
  }

  /** `undefined`: a request for a live broadcast may continue now; otherwise how long to wait, in ms. It gets no slot. */
  askToWatch(): number | undefined {
    const now = this.#parts.now();
    return this.slots.take(this.queue.waitMs(now), now);
  }

  /** The pod drains: no socket that waits is served any more. Returns them, for they are the first to leave. */
  stop(): Connection[] {
    this.#stopped = true;
    return Array.from(this.#waiting.values(), ({ connection }) => connection);
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#nextServe !== undefined) clearImmediate(this.#nextServe);
  }

  #tick(now: number): void {
    const lateMs = now - this.#tickedAt - TICK_MS;
    this.#tickedAt = now;
    this.queue.pace.measured(lateMs);
    this.slots.pace.measured(lateMs);
    if (this.#stopped) return;
    if (this.#nextServe === undefined) this.#serve(now);
    if (now - this.#reviewedAt < REVIEW_EVERY_MS) return;
    this.#reviewedAt = now;
    for (const { socket, afterMs } of this.queue.late(now))
      this.#waiting.get(socket)?.connection.send({ type: 'wait', afterMs });
  }

  #serve(now: number): void {
    this.#nextServe = undefined;
    if (this.#stopped) return;
    const due = this.queue.due(now, AT_ONCE);
    for (const socket of due) this.#continue(socket, true);
    if (due.length === AT_ONCE) this.#nextServe = setImmediate(() => this.#serve(this.#parts.now()));
  }

  #continue(socket: SocketId, isTurn: boolean): void {
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) return;
    this.#waiting.delete(socket);
    waiting.account.close();
    waiting.go(isTurn);
  }
}

/** About the memory that a message takes while it waits. */
function bytesOf(message: Enter | Resume): number {
  if (message.type === 'enter') return MESSAGE_BYTES + message.ticket.length;
  const lines = message.chat.map(({ text }) => LINE_BYTES + 2 * text.length);
  return lines.reduce((sum, bytes) => sum + bytes, MESSAGE_BYTES + message.token.length);
}
