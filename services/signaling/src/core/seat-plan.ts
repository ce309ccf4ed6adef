/** How changes apply to the seats of a room. The home region decides so, in one write for many changes. SPEC rules MOD-7, MOD-12, HOME-3 to HOME-5. */
import type { SeatChange } from '@parley/protocol/home';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Seat, SeatHolder, SeatPlan } from './ports.ts';

/** `by`: the process that asks. */
export type AskedChange = SeatChange & {
  readonly by: SeatHolder;
  /** It does not wait longer for an answer, in ms of the monotonic clock: after that the change is not made. */
  readonly dueAt?: number;
};

/** `held`: the participant had the seat before; `gone`: there is no such room any more. */
export type SeatDecision = 'taken' | 'held' | 'full' | 'gone';

export interface SeatRules {
  readonly cap: number;
  /** Whether no participant can resume into the seat any more. */
  readonly isAbandoned: (seat: Seat) => boolean;
  /** Whether its process lives, or may live, as far as the pod that decides knows. */
  readonly mayLive: (seat: Seat) => boolean;
  /** How long a seat that was freed is not given to another participant, in ms; `Infinity` while a region is cut off. */
  readonly restMs: number;
  /** Unix time in ms. */
  readonly now: number;
}

/** Beyond the cap, for an owner only, so that the participants cannot keep out the one who can remove them. */
const OWNER_SEATS = 1;

/** Returns the same plan where nothing changes. The decisions are in the order of the changes. */
export function changeSeats(
  before: SeatPlan,
  changes: readonly AskedChange[],
  rules: SeatRules,
): { readonly plan: SeatPlan; readonly decisions: readonly SeatDecision[] } {
  const draft = new Draft(before, rules);
  const decisions = changes.map((change) => draft.apply(change));
  return { plan: draft.plan(), decisions };
}

class Draft {
  readonly #before: SeatPlan;
  readonly #rules: SeatRules;
  readonly #seats: Map<ParticipantId, Seat>;
  /** When the seats of participants that left were freed. */
  readonly #resting: Map<ParticipantId, number>;
  #changed = false;

  constructor(before: SeatPlan, rules: SeatRules) {
    this.#before = before;
    this.#rules = rules;
    this.#seats = new Map(before.seats.map((seat) => [seat.participant, seat]));
    this.#resting = new Map(before.resting);
  }

  plan(): SeatPlan {
    if (!this.#changed) return this.#before;
    return { ...this.#before, seats: [...this.#seats.values()], resting: [...this.#resting] };
  }

  apply({ act, participant, owner = false, holder, by }: AskedChange): SeatDecision {
    const seat = this.#seats.get(participant);
    switch (act) {
      case 'free':
        if (seat?.pod === by.pod) this.#free(participant);
        return 'taken';
      case 'release':
        this.#release(seat, holder);
        return 'taken';
      case 'claim':
        // The process that asks has no seat to hand over: it was freed, or another pod has taken it over since.
        if (holder !== undefined && seat?.pod !== by.pod) return 'taken';
        return this.#sit({ participant, ...(holder ?? by) }, owner);
      case 'take':
        return this.#sit({ participant, ...by }, owner);
      default:
        return act satisfies never;
    }
  }

  /** The pod that asks knows the participants of the room, and this one may know better which processes live. */
  #release(seat: Seat | undefined, holder: SeatHolder | undefined): void {
    const { restMs, mayLive } = this.#rules;
    if (seat !== undefined && isOf(seat, holder) && restMs !== Infinity && !mayLive(seat))
      this.#remove(seat.participant);
  }

  #sit(seat: Seat, owner: boolean): SeatDecision {
    const { participant } = seat;
    const held = this.#seats.get(participant);
    const hadOne = held !== undefined || this.#resting.has(participant);
    if (!hadOne && !this.#hasRoom(owner)) return 'full';
    if (!isOf(held, seat)) {
      this.#seats.set(participant, { participant, pod: seat.pod, boot: seat.boot });
      this.#resting.delete(participant);
      this.#changed = true;
    }
    return held === undefined ? 'taken' : 'held';
  }

  #hasRoom(owner: boolean): boolean {
    const max = this.#rules.cap + (owner ? OWNER_SEATS : 0);
    const isRoom = (): boolean => this.#seats.size + this.#resting.size < max;
    if (isRoom()) return true;
    const { restMs, now, isAbandoned } = this.#rules;
    if (restMs === Infinity) return false;
    // In either direction, as clocks may be set.
    for (const [participant, freedAt] of this.#resting)
      if (Math.abs(now - freedAt) >= restMs) this.#remove(participant);
    if (isRoom()) return true;
    for (const seat of this.#seats.values()) if (isAbandoned(seat)) this.#remove(seat.participant);
    return isRoom();
  }

  #free(participant: ParticipantId): void {
    this.#remove(participant);
    if (this.#rules.restMs > 0) this.#resting.set(participant, this.#rules.now);
  }

  #remove(participant: ParticipantId): void {
    this.#seats.delete(participant);
    this.#resting.delete(participant);
    this.#changed = true;
  }
}

const isOf = (seat: SeatHolder | undefined, holder: SeatHolder | undefined): boolean =>
  seat !== undefined && seat.pod === holder?.pod && seat.boot === holder.boot;
