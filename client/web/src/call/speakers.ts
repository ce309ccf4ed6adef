/** Finds the active speaker from loudness. Pure: time and loudness are inputs. A cough does not change the speaker, and neither does a pause. */
import type { ParticipantId } from '@parley/protocol/ids';

/** Speech is above this level; breath and keyboards are below. */
export const SPEAKING_LEVEL = 0.12;
/** A participant becomes the active speaker after being the loudest for this long. */
const SWITCH_MS = 400;

export interface ParticipantLevel {
  readonly participant: ParticipantId;
  /** 0 to 1. */
  readonly level: number;
}

export class Speakers {
  #current: ParticipantId | null = null;
  #next: { readonly participant: ParticipantId; readonly since: number } | null = null;
  readonly #spokeAt = new Map<ParticipantId, number>();

  /** The active speaker; stays until another one takes over or the participant leaves. */
  get current(): ParticipantId | null {
    return this.#current;
  }

  /** When each present participant last spoke, in ms. */
  get spokeAt(): ReadonlyMap<ParticipantId, number> {
    return this.#spokeAt;
  }

  /** Takes the current loudness of all participants. */
  update(people: readonly ParticipantLevel[], nowMs: number): void {
    const here = new Set(people.map(({ participant }) => participant));
    for (const participant of this.#spokeAt.keys())
      if (!here.has(participant)) this.#spokeAt.delete(participant);
    if (this.#current !== null && !here.has(this.#current)) this.#current = null;
    const speaking = people.filter(({ level }) => level > SPEAKING_LEVEL);
    for (const { participant } of speaking) this.#spokeAt.set(participant, nowMs);
    const [loudest] = speaking.toSorted((one, other) => other.level - one.level);
    if (loudest === undefined || loudest.participant === this.#current) {
      this.#next = null;
      return;
    }
    if (this.#next?.participant !== loudest.participant)
      this.#next = { participant: loudest.participant, since: nowMs };
    if (this.#current !== null && nowMs - this.#next.since < SWITCH_MS) return;
    this.#current = loudest.participant;
    this.#next = null;
  }
}
