/** The home region's store in a scripted world: named rooms with their policies, and seats. Decides one request after the other. */
import type { RoomPolicy } from '@parley/protocol/bus';
import type { RoomView } from '@parley/protocol/http';
import type { RoomId } from '@parley/protocol/ids';
import type { Effect } from '../../src/core/effects.ts';
import type { Input, Join } from '../../src/core/input.ts';
import type { RoomSeats, Seat, SeatOutcome } from '../../src/core/ports.ts';
import type { WorldPod } from './world-pod.ts';

export type StoreEffect = Extract<
  Effect,
  { type: 'take-seat' | 'let-in' | 'claim-seat' | 'free-seat' | 'read-policy' }
>;

export class HomeStore {
  readonly policies = new Map<RoomId, RoomPolicy>();
  /** While the store does not answer, seats are unavailable and reads fail. */
  isDown = false;
  /** The delay of an answer to the pod, in ms. */
  durationMs = 3;
  readonly #seats = new Map<RoomId, Map<string, Seat>>();
  #revision = 0;

  /** A named room as its owner created it. */
  make(name: string, { cap, lobby = false }: { cap?: number; lobby?: boolean } = {}): RoomView {
    const view: RoomView = {
      room: `${name}@local`,
      kind: 'named',
      homeRegion: 'local',
      cap: cap ?? 100,
      locked: false,
      ...(lobby ? { lobby } : {}),
      ...(cap === undefined ? {} : { hardCap: true }),
    };
    this.#revision += 1;
    const incarnation = `incarnation ${this.#revision}`;
    this.policies.set(view.room, { revision: this.#revision, incarnation, view, bans: [], kicked: [] });
    return view;
  }

  change(
    room: RoomId,
    change: {
      view?: Partial<Pick<RoomView, 'locked' | 'lobby'>>;
      bans?: RoomPolicy['bans'];
      kicked?: RoomPolicy['kicked'];
    },
  ): RoomPolicy {
    const before = this.policies.get(room);
    if (before === undefined) throw new Error(`no room ${room}`);
    this.#revision += 1;
    const view = { ...before.view, ...change.view };
    const { bans, kicked } = { ...before, ...change };
    const policy = { ...before, revision: this.#revision, view, bans, kicked };
    this.policies.set(room, policy);
    return policy;
  }

  seats(room: RoomId): readonly Seat[] {
    return [...(this.#seats.get(room)?.values() ?? [])];
  }

  ask(pod: WorldPod, effect: StoreEffect): Input | undefined {
    if (effect.type === 'read-policy') return this.#read(effect.room);
    const { seats: asked } = effect;
    if (asked === undefined)
      return effect.type === 'let-in'
        ? letIn(effect.arrival, undefined, { outcome: 'taken', wasHeld: false })
        : undefined;
    const { room, cap } = asked;
    const { participant } = 'arrival' in effect ? effect.arrival : effect;
    const seats = this.#seats.get(room) ?? new Map<string, Seat>();
    this.#seats.set(room, seats);
    if (effect.type === 'free-seat') {
      if (seats.get(participant)?.pod === pod.name) seats.delete(participant);
      return undefined;
    }
    const seat = { participant, pod: pod.name, boot: pod.boot };
    if (effect.type === 'claim-seat') {
      const isTheirs = effect.holder !== undefined && seats.get(participant)?.pod !== pod.name;
      if (!this.isDown && !isTheirs) seats.set(participant, { ...seat, ...effect.holder });
      return undefined;
    }
    const wasHeld = seats.has(participant);
    const answer = (outcome: SeatOutcome): Input =>
      effect.type === 'let-in'
        ? letIn(effect.arrival, asked, { outcome, wasHeld })
        : { type: 'seat', room, seats: asked, socket: effect.socket, participant, outcome, wasHeld };
    if (this.isDown) return answer('unavailable');
    const most = cap + (effect.type === 'take-seat' && effect.owner ? 1 : 0);
    if (seats.size >= most && !seats.has(participant)) {
      for (const held of seats.values()) if (pod.core.isAbandoned(room, held)) seats.delete(held.participant);
    }
    if (seats.size >= most && !seats.has(participant)) return answer('full');
    seats.set(participant, seat);
    return answer('taken');
  }

  #read(room: RoomId): Input | undefined {
    const policy = this.policies.get(room);
    if (this.isDown) return { type: 'policy-unread', room };
    return policy === undefined ? { type: 'room-missing', room } : { type: 'policy', policy, notify: false };
  }
}

/** Without a new token, as no test reads it here. */
const letIn = (
  { socket, participant, view }: Join,
  seats: RoomSeats | undefined,
  decided: { readonly outcome: SeatOutcome; readonly wasHeld: boolean },
): Input => ({
  type: 'seat',
  room: view.room,
  seats,
  socket,
  participant,
  ...decided,
});
