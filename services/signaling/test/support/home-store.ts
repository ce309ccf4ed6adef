/** The home region's store in a scripted world: named rooms with their policies, and seats. Decides one request after the other. */
import type { RoomPolicy } from '@parley/protocol/bus';
import type { SeatChange } from '@parley/protocol/home';
import type { RoomView } from '@parley/protocol/http';
import type { RoomId } from '@parley/protocol/ids';
import type { CoOwners, Mutes } from '@parley/protocol/people';
import type { Effect } from '../../src/core/effects.ts';
import type { Input, Join } from '../../src/core/input.ts';
import type { RoomSeats, Seat, SeatOutcome, SeatPlan } from '../../src/core/ports.ts';
import { changeSeats } from '../../src/core/seat-plan.ts';
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
  /** Whether the pod reaches the home region. */
  isReachedBy: (pod: string) => boolean = () => true;
  /** Unix time in ms. */
  clock: () => number = () => 0;
  readonly #plans = new Map<RoomId, SeatPlan>();
  #revision = 0;

  /** A named room as its owner created it. */
  make(
    name: string,
    {
      cap,
      lobby = false,
      region = 'local',
    }: { readonly cap?: number; readonly lobby?: boolean; readonly region?: string } = {},
  ): RoomView {
    const view: RoomView = {
      room: `${name}@${region}`,
      kind: 'named',
      homeRegion: region,
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
      knocking?: RoomPolicy['knocking'] & {};
      mutes?: Mutes;
      coOwners?: CoOwners;
      incarnation?: RoomPolicy['incarnation'];
    },
  ): RoomPolicy {
    const before = this.policies.get(room);
    if (before === undefined) throw new Error(`no room ${room}`);
    this.#revision += 1;
    const view = { ...before.view, ...change.view };
    const policy = { ...before, ...change, revision: this.#revision, view };
    this.policies.set(room, policy);
    return policy;
  }

  seats(room: RoomId): readonly Seat[] {
    return this.#plans.get(room)?.seats ?? [];
  }

  /** Every seat of the room is that of a participant that no pod knows. */
  giveAway(room: RoomId, participant: string): void {
    const plan = this.#plans.get(room);
    const [seat] = plan?.seats ?? [];
    if (plan !== undefined && seat !== undefined)
      this.#plans.set(room, { ...plan, seats: [{ ...seat, participant }] });
  }

  ask(pod: WorldPod, effect: StoreEffect): Input | undefined {
    if (effect.type === 'read-policy') return this.#read(pod, effect.room);
    const { seats: asked } = effect;
    if (effect.type === 'free-seat') {
      this.#change(pod, effect.seats, { act: 'free', participant: effect.participant });
      return undefined;
    }
    if (effect.type === 'claim-seat') return this.#claim(pod, effect);
    if (asked === undefined)
      return effect.type === 'let-in'
        ? letIn(effect.arrival, undefined, { outcome: 'taken', wasHeld: false })
        : undefined;
    const { participant, owner } = 'arrival' in effect ? effect.arrival : effect;
    const decision = this.#change(pod, asked, { act: 'take', participant, owner });
    const decided = { outcome: decision === 'held' ? 'taken' : decision, wasHeld: decision === 'held' };
    if (effect.type === 'let-in') return letIn(effect.arrival, asked, decided);
    return { type: 'seat', room: asked.room, seats: asked, socket: effect.socket, participant, ...decided };
  }

  #claim(
    pod: WorldPod,
    { seats, participant, owner, holder }: StoreEffect & { type: 'claim-seat' },
  ): Input | undefined {
    const change = { act: 'claim' as const, participant, owner, ...(holder === undefined ? {} : { holder }) };
    const isRefused = this.#change(pod, seats, change) === 'full' && holder === undefined;
    return isRefused ? { type: 'seat-refused', room: seats.room, participant } : undefined;
  }

  #change(pod: WorldPod, { room, incarnation, cap }: RoomSeats, change: SeatChange) {
    const failure = this.#failure(pod);
    if (failure !== undefined) return failure;
    const known = this.#plans.get(room) ?? { incarnation, seats: [] };
    const isAnother = known.incarnation !== incarnation;
    if (isAnother && change.act !== 'take') return 'taken';
    const before = isAnother ? { incarnation, seats: [] } : known;
    const { plan, decisions } = changeSeats(before, [{ ...change, by: { pod: pod.name, boot: pod.boot } }], {
      cap,
      isAbandoned: (seat) => pod.core.isAbandoned(room, seat),
      mayLive: (seat) => pod.core.mayLive(seat),
      restMs: pod.core.seatRestMs(before),
      now: this.clock(),
    });
    this.#plans.set(room, plan);
    return decisions[0] ?? 'taken';
  }

  #failure(pod: WorldPod): 'unavailable' | 'unreachable' | undefined {
    if (this.isDown) return 'unavailable';
    return this.isReachedBy(pod.name) ? undefined : 'unreachable';
  }

  #read(pod: WorldPod, room: RoomId): Input | undefined {
    const policy = this.policies.get(room);
    if (this.#failure(pod) !== undefined) return { type: 'policy-unread', room };
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
