/**
 * The core's requests to the store of the home region, and the answers as inputs: policies, seats, and the admission from the lobby. SPEC rules
 * MOD-5, MOD-7, MOD-9, ROOM-11.
 */
import type { RoomId } from '@parley/protocol/ids';
import type { Effect } from '../core/effects.ts';
import type { Input } from '../core/input.ts';
import { signResume, type ArrivalParts } from './arrival.ts';
import type { SeatKeeper } from './seat-keeper.ts';

export type HomeEffect = Extract<
  Effect,
  { type: 'take-seat' | 'let-in' | 'claim-seat' | 'free-seat' | 'read-policy' }
>;

export interface HomeRegionParts extends ArrivalParts {
  readonly seats: SeatKeeper;
  readonly handle: (input: Input) => void;
}

export class HomeRegion {
  readonly #parts: HomeRegionParts;

  constructor(parts: HomeRegionParts) {
    this.#parts = parts;
  }

  ask(effect: HomeEffect): void {
    const { seats } = this.#parts;
    switch (effect.type) {
      case 'take-seat':
        return this.#takeSeat(effect);
      case 'claim-seat':
        return seats.claim(effect.seats, effect.participant, effect.holder);
      case 'free-seat':
        return seats.free(effect.seats, effect.participant);
      case 'let-in':
        // In a turn of its own, as the core must not receive an input while its effects are carried out.
        queueMicrotask(() => this.#letIn(effect));
        return undefined;
      case 'read-policy':
        void this.#readPolicy(effect.room);
        return undefined;
      default:
        return effect satisfies never;
    }
  }

  close(): void {
    this.#parts.seats.close();
  }

  #takeSeat({ seats, participant, owner, socket }: HomeEffect & { type: 'take-seat' }): void {
    const { room } = seats;
    this.#parts.seats.take(seats, { participant, owner }, (outcome, wasHeld) =>
      this.#parts.handle({ type: 'seat', room, seats, socket, participant, outcome, wasHeld }),
    );
  }

  /** The token is issued now: a newcomer from the lobby receives no chat from before. */
  #letIn({ seats, arrival }: HomeEffect & { type: 'let-in' }): void {
    const { handle } = this.#parts;
    const { socket, participant, view } = arrival;
    const token = signResume(this.#parts, arrival, Date.now());
    const answer = { type: 'seat', room: view.room, seats, socket, participant, token } as const;
    if (seats === undefined) handle({ ...answer, outcome: 'taken', wasHeld: false });
    else {
      const { owner } = arrival;
      this.#parts.seats.take(seats, { participant, owner }, (outcome, wasHeld) =>
        handle({ ...answer, outcome, wasHeld }),
      );
    }
  }

  /** Where the store does not answer nothing changes: the core soon asks again. */
  async #readPolicy(room: RoomId): Promise<void> {
    const { rooms, handle } = this.#parts;
    const known = await rooms.lookUp(room);
    // The room has participants, so this is a use.
    if (known.ok && known.stored !== undefined) rooms.use(known.stored);
    if (known.ok && known.policy !== undefined)
      handle({ type: 'policy', policy: known.policy, notify: false });
    if (known.ok) return;
    if (known.code === 'ROOM_NOT_FOUND') handle({ type: 'room-missing', room });
    if (known.code === 'STORE_UNAVAILABLE') handle({ type: 'policy-unread', room });
  }
}
