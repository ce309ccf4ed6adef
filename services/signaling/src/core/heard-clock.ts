/**
 * A clock that stands still while the pod hears nothing from the bus, not even its own heartbeats: the leases that it has do not lapse then, as their
 * renewals may be on their way to other pods. SPEC rules MEDIA-2, TURN-6.
 */

/** A pod receives its own heartbeats every second. Beyond this age of the last one it is more likely disconnected itself than all others. */
export const OWN_HEARTBEAT_TIMEOUT_MS = 2500;

export class HeardClock {
  readonly #startedAt: number;
  #heardAt: number | undefined;
  #stoodMs = 0;

  /** All times in ms, from a monotonic clock. */
  constructor(now: number) {
    this.#startedAt = now;
  }

  /** When the pod last received its own heartbeat. */
  get heardAt(): number | undefined {
    return this.#heardAt;
  }

  /** The pod received its own heartbeat. After a silence the clock goes back to the last one: all since then may have been missed. */
  hear(now: number): void {
    const silentMs = now - this.#lastAt;
    if (silentMs > OWN_HEARTBEAT_TIMEOUT_MS) this.#stoodMs += silentMs;
    this.#heardAt = now;
  }

  at(now: number): number {
    return Math.min(now, this.#lastAt + OWN_HEARTBEAT_TIMEOUT_MS) - this.#stoodMs;
  }

  get #lastAt(): number {
    return this.#heardAt ?? this.#startedAt;
  }
}
