/**
 * The core's requests to the store of the home region, and the answers as inputs: policies, seats, and the admission from the lobby. SPEC rules
 * MOD-5, MOD-7, MOD-9, ROOM-11, HOME-3, HOME-5.
 */
import type { RegionId, RoomId } from '@parley/protocol/ids';
import type { Effect } from '../core/effects.ts';
import type { Input, Join } from '../core/input.ts';
import type { RoomSeats } from '../core/ports.ts';
import type { SocketId } from '../core/socket-id.ts';
import { signResume, type ArrivalParts } from './arrival.ts';
import type { EntryTrace } from './entry-trace.ts';
import type { SeatKeeper } from './seat-keeper.ts';

export type HomeEffect = Extract<
  Effect,
  { type: 'take-seat' | 'let-in' | 'claim-seat' | 'free-seat' | 'read-policy' }
>;

export interface HomeRegionParts extends ArrivalParts {
  readonly seats: SeatKeeper;
  readonly handle: (input: Input) => void;
  /** Of a socket whose join is traced. */
  readonly entry: (socket: SocketId) => Pick<EntryTrace, 'child'> | undefined;
  /** Whether a region was promoted for the rooms of this home. */
  readonly isPromoted: (home: RegionId) => boolean;
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
        return this.#claimSeat(effect);
      case 'free-seat':
        return seats.change(effect.seats, { act: 'free', participant: effect.participant });
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
    this.#take(seats, { socket, participant, owner });
  }

  /** Where a participant resumed and finds no seat. A holder that is named has its seat already. */
  #claimSeat({ seats, participant, owner, holder }: HomeEffect & { type: 'claim-seat' }): void {
    const { room } = seats;
    const change = { act: 'claim' as const, participant, owner, ...(holder === undefined ? {} : { holder }) };
    this.#parts.seats.change(seats, change, ({ outcome }) => {
      if (outcome === 'full' && holder === undefined)
        this.#parts.handle({ type: 'seat-refused', room, participant });
    });
  }

  /** The token is issued now: a newcomer from the lobby receives no chat from before. */
  #letIn({ seats, arrival }: HomeEffect & { type: 'let-in' }): void {
    const { handle } = this.#parts;
    const { socket, participant, view, owner } = arrival;
    const token = signResume(this.#parts, arrival, Date.now());
    if (seats !== undefined) return this.#take(seats, { socket, participant, owner }, token);
    const answer = { type: 'seat', room: view.room, seats, socket, participant, token } as const;
    return handle({ ...answer, outcome: 'taken', wasHeld: false });
  }

  #take(
    seats: RoomSeats,
    { socket, ...taker }: Pick<Join, 'socket' | 'participant' | 'owner'>,
    token?: string,
  ): void {
    const { handle } = this.#parts;
    const { room } = seats;
    const { participant } = taker;
    const span = this.#parts.entry(socket)?.child('take a seat');
    this.#parts.seats.change(seats, { act: 'take', ...taker }, ({ outcome, wasHeld, policy }) => {
      span?.end(outcome === 'taken' ? undefined : outcome);
      // A lock or a ban that was written before the seat.
      if (policy !== undefined) handle({ type: 'policy', policy, notify: false });
      const answer = { type: 'seat', room, seats, socket, participant, outcome, wasHeld } as const;
      handle(token === undefined ? answer : { ...answer, token });
    });
  }

  /** Where the store does not answer nothing changes: the core soon asks again. */
  async #readPolicy(room: RoomId): Promise<void> {
    const { rooms, handle, isPromoted } = this.#parts;
    const known = await rooms.lookUp(room, { isUsed: true });
    // The room has participants, so this is a use.
    if (known.ok && known.stored !== undefined) rooms.use(known.stored);
    if (known.ok && known.policy !== undefined)
      handle({ type: 'policy', policy: known.policy, notify: false });
    if (known.ok) return;
    // A region that was promoted may not know a room, or not yet: its call goes on.
    const isMissing = known.code === 'ROOM_NOT_FOUND' && !isPromoted(homeOf(room));
    if (isMissing) handle({ type: 'room-missing', room });
    else handle({ type: 'policy-unread', room });
  }
}

/** Of a named room. */
const homeOf = (room: RoomId): RegionId => room.slice(room.indexOf('@') + 1);
