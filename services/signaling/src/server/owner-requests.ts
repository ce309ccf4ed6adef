/** Owners' requests that the core answers later, identified by number. */
import type { ModerationAction, RoomPolicy } from '@parley/protocol/bus';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import type { Effect } from '../core/effects.ts';
import type { Input } from '../core/input.ts';

export type ModerationResult = Pick<Effect & { type: 'moderated' }, 'outcome' | 'name' | 'visitor'>;

export type Listing = Pick<Effect & { type: 'listed' }, 'people' | 'left' | 'isComplete'>;

export class OwnerRequests {
  readonly #handle: (input: Input) => void;
  readonly #moderations = new Map<number, (result: ModerationResult) => void>();
  readonly #listings = new Map<number, (listing: Listing) => void>();
  /** Grows across restarts too. */
  #last = 1000 * Date.now();

  constructor(handle: (input: Input) => void) {
    this.#handle = handle;
  }

  /** Never rejects; the core answers within 3 s. */
  moderate(room: RoomId, action: ModerationAction, participant: ParticipantId): Promise<ModerationResult> {
    this.#last += 1;
    const ref = this.#last;
    return new Promise((resolve) => {
      this.#moderations.set(ref, resolve);
      this.#handle({ type: 'moderate', ref, room, action, participant });
    });
  }

  /** Never rejects; the core answers within half a second. */
  list(view: RoomView, policy: RoomPolicy | undefined): Promise<Listing> {
    this.#last += 1;
    const ref = this.#last;
    return new Promise((resolve) => {
      this.#listings.set(ref, resolve);
      this.#handle({ type: 'list', ref, view, policy });
    });
  }

  moderated(effect: Effect & { type: 'moderated' }): void {
    this.#moderations.get(effect.ref)?.(effect);
    this.#moderations.delete(effect.ref);
  }

  listed(effect: Effect & { type: 'listed' }): void {
    this.#listings.get(effect.ref)?.(effect);
    this.#listings.delete(effect.ref);
  }
}
