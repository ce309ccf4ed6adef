/**
 * The sockets whose `enter` or `resume` waits for its turn: resumes before enters, each kind in the order of its arrival. Before each there are no more
 * than the pace serves at its floor within half of `resume.grace`, so that a resume that waits is served before its participant is lost. Times are ms.
 * SPEC rules LIM-20, RES-13.
 */
import type { Limits } from '@parley/protocol/limits';
import type { SocketId } from '../core/socket-id.ts';
import { Pace, type PaceRange } from './pace.ts';

type Kind = 'enter' | 'resume';
/** When the client expects its turn. */
interface Waiter {
  expectedAt: number;
}

/** A turn that is later than the client was informed by more than this is announced again. */
const LATE_NOTICE_MS = 2000;

export class ArrivalQueue {
  readonly pace: Pace;
  readonly #capacity: number;
  readonly #resumes = new Map<SocketId, Waiter>();
  readonly #enters = new Map<SocketId, Waiter>();

  constructor(limits: Limits, now: number) {
    const range = arrivalRange(limits);
    this.pace = new Pace(range, now);
    this.#capacity = Math.min(
      limits['pod.sockets'],
      Math.max(1, Math.round(range.floor * halfGraceS(limits))),
    );
  }

  get size(): number {
    return this.#resumes.size + this.#enters.size;
  }

  /** How long until all that wait now were served. */
  waitMs(now: number): number {
    return this.size === 0 ? 0 : this.pace.waitMs(this.size - 1, now);
  }

  /**
   * `now`: it is the socket's turn. Otherwise the socket waits for about `afterMs`, or is refused where the queue is full. Enters take no place of
   * resumes. With `isLate`, of the event loop, no turn is given before the next tick, however many arrive until then.
   */
  arrive(
    socket: SocketId,
    kind: Kind,
    { now, isLate = false }: { readonly now: number; readonly isLate?: boolean },
  ): 'now' | { readonly full: boolean; readonly afterMs: number } {
    const ahead = kind === 'resume' ? this.#resumes.size : this.size;
    if (ahead === 0 && !isLate && this.pace.take(now)) return 'now';
    const afterMs = this.pace.waitMs(ahead, now);
    const full = ahead >= this.#capacity;
    if (!full) this.#of(kind).set(socket, { expectedAt: now + afterMs });
    return { full, afterMs };
  }

  /** The socket ended. */
  remove(socket: SocketId): void {
    if (!this.#resumes.delete(socket)) this.#enters.delete(socket);
  }

  /** Removes and returns the sockets whose turn has come, at most so many. */
  due(now: number, most = Infinity): SocketId[] {
    const due: SocketId[] = [];
    for (const waiters of [this.#resumes, this.#enters])
      for (const socket of waiters.keys()) {
        if (due.length >= most || !this.pace.take(now)) return due;
        waiters.delete(socket);
        due.push(socket);
      }
    return due;
  }

  /** The sockets that wait for much longer than they were informed, with the new estimates. */
  late(now: number): { readonly socket: SocketId; readonly afterMs: number }[] {
    const late = [];
    let ahead = 0;
    for (const waiters of [this.#resumes, this.#enters])
      for (const [socket, waiter] of waiters) {
        const afterMs = this.pace.waitMs(ahead, now);
        ahead += 1;
        if (now + afterMs <= waiter.expectedAt + LATE_NOTICE_MS) continue;
        waiter.expectedAt = now + afterMs;
        late.push({ socket, afterMs });
      }
    return late;
  }

  #of(kind: Kind): Map<SocketId, Waiter> {
    return kind === 'resume' ? this.#resumes : this.#enters;
  }
}

/** At the floor a full pod gets all of its participants back within half of the grace period; the other half is for finding the pod. */
function arrivalRange(limits: Limits): PaceRange {
  const ceiling = limits['pod.resumes'];
  return { ceiling, floor: Math.min(ceiling, limits['pod.sockets'] / halfGraceS(limits)) };
}

const halfGraceS = (limits: Limits): number => limits['resume.grace'] / 2 / 1000;
