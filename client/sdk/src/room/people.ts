/** The other participants for the application: roster, media and loudness. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Person, PersonMedia } from '../call.ts';
import type { Clock } from '../ports.ts';
import type { HeardMember } from './mutes.ts';

/** Five times a second is enough for a level meter. The value does not divide a second, so that a periodic beep is not missed every time. */
const LEVEL_MS = 190;
/** Smaller changes of loudness cause no new snapshot. */
const LEVEL_STEP = 0.02;

export interface PeopleOptions {
  readonly clock: Clock;
  media(participant: ParticipantId): PersonMedia;
  /** A level changed. */
  onChange(): void;
}

export class People {
  readonly #options: PeopleOptions;
  readonly #levels = new Map<ParticipantId, number>();
  readonly #people = new Map<ParticipantId, Person>();
  #members: ReadonlyMap<ParticipantId, HeardMember> = new Map();
  #cancel: () => void;

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#cancel = options.clock.after(LEVEL_MS, () => this.#measure());
  }

  follow(members: ReadonlyMap<ParticipantId, HeardMember>): void {
    this.#members = members;
    for (const participant of this.#people.keys()) {
      if (members.has(participant)) continue;
      this.#people.delete(participant);
      this.#levels.delete(participant);
    }
  }

  /** A participant is the same object while nothing about it changed, so that an application renders only changes. */
  list(): Person[] {
    return [...this.#members.values()].map((member) => {
      const person = this.#person(member);
      const before = this.#people.get(member.participant);
      if (before !== undefined && isSame(before, person)) return before;
      this.#people.set(member.participant, person);
      return person;
    });
  }

  close(): void {
    this.#cancel();
  }

  #measure(): void {
    this.#cancel = this.#options.clock.after(LEVEL_MS, () => this.#measure());
    let changed = false;
    for (const [participant, { media }] of this.#members) {
      const level = media.audio ? this.#options.media(participant).level : 0;
      const shown = this.#levels.get(participant) ?? 0;
      if (Math.abs(level - shown) < LEVEL_STEP && (level > 0 || shown === 0)) continue;
      this.#levels.set(participant, level);
      changed = true;
    }
    if (changed) this.#options.onChange();
  }

  #person({ participant, name, state, media, muted, owner, coOwner }: HeardMember): Person {
    const { link, stream, screen, mixed, videoPaused } = this.#options.media(participant);
    return {
      participant,
      name,
      presence: state,
      media,
      owner,
      coOwner,
      muted,
      link,
      stream,
      screen: media.screen ? screen : null,
      mixed,
      videoPaused: media.video && videoPaused,
      level: this.#levels.get(participant) ?? 0,
    };
  }
}

function isSame(before: Person, now: Person): boolean {
  const { link, media, ...one } = before;
  const same = (key: keyof typeof one): boolean => one[key] === now[key];
  return (
    (Object.keys(one) as (keyof typeof one)[]).every(same) &&
    JSON.stringify([link, media]) === JSON.stringify([now.link, now.media])
  );
}
