/** Who speaks, from how loud people are: pure, so that time and loudness are given. A cough does not take the floor, nor does a pause give it up. */
import type { ParticipantId } from '@parley/protocol/ids';

/** Above this somebody is speaking: breath and keyboards stay below. */
export const SPEAKING = 0.12;
/** Whoever is to take the floor is the loudest for so long. */
const TAKES_MS = 400;

export interface Heard {
  readonly participant: ParticipantId;
  /** 0 to 1. */
  readonly level: number;
}

export class Speakers {
  #current: ParticipantId | null = null;
  #next: { readonly participant: ParticipantId; readonly since: number } | null = null;
  readonly #spokeAt = new Map<ParticipantId, number>();

  /** Whoever has the floor: the last one who took it and is still here. */
  get current(): ParticipantId | null {
    return this.#current;
  }

  /** When each who is here was last heard, in ms. */
  get spokeAt(): ReadonlyMap<ParticipantId, number> {
    return this.#spokeAt;
  }

  /** How loud everyone who is here is now. */
  hear(people: readonly Heard[], nowMs: number): void {
    const here = new Set(people.map(({ participant }) => participant));
    for (const participant of this.#spokeAt.keys())
      if (!here.has(participant)) this.#spokeAt.delete(participant);
    if (this.#current !== null && !here.has(this.#current)) this.#current = null;
    const speaking = people.filter(({ level }) => level > SPEAKING);
    for (const { participant } of speaking) this.#spokeAt.set(participant, nowMs);
    const [loudest] = speaking.toSorted((one, other) => other.level - one.level);
    if (loudest === undefined || loudest.participant === this.#current) {
      this.#next = null;
      return;
    }
    if (this.#next?.participant !== loudest.participant)
      this.#next = { participant: loudest.participant, since: nowMs };
    if (this.#current !== null && nowMs - this.#next.since < TAKES_MS) return;
    this.#current = loudest.participant;
    this.#next = null;
  }
}
