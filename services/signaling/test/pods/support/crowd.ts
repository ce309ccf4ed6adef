/**
 * Many participants in many rooms, and what must hold after a move: they are the same participants, their rosters agree, and none saw another leave
 * or join.
 */
import assert from 'node:assert/strict';
import { eventually } from '../../support/deadline.ts';
import { randomRoom } from '../../support/pod.ts';
import { ResumingClient } from './resuming-client.ts';

export interface CrowdOptions {
  readonly rooms: number;
  readonly perRoom: number;
  /** The addresses of the pods that a participant uses, in order; the first is entered. */
  readonly podsOf: (room: number, seat: number) => readonly string[];
  readonly ignoresSlot?: (room: number, seat: number) => boolean;
}

/** This many at a time, as these tests are not about bursts. */
const AT_ONCE = 25;

export class Crowd {
  readonly people: readonly ResumingClient[];
  readonly #before: ReadonlyMap<ResumingClient, string>;
  readonly #marks: ReadonlyMap<ResumingClient, number>;
  readonly #roomMates = new Map<string, ResumingClient[]>();

  private constructor(people: readonly ResumingClient[]) {
    this.people = people;
    this.#before = new Map(people.map((one) => [one, one.participant]));
    this.#marks = new Map(people.map((one) => [one, one.log.length]));
    for (const one of people) {
      const mates = this.#roomMates.get(one.room) ?? [];
      mates.push(one);
      this.#roomMates.set(one.room, mates);
    }
  }

  /** Resolves when all participants see all others of their room. */
  static async gather({ rooms, perRoom, podsOf, ignoresSlot = () => false }: CrowdOptions): Promise<Crowd> {
    const people: ResumingClient[] = [];
    const seats = Array.from({ length: rooms }, (_, room) => ({ room, id: randomRoom() })).flatMap((one) =>
      Array.from({ length: perRoom }, (_, seat) => ({ ...one, seat })),
    );
    while (seats.length > 0) {
      const some = seats.splice(0, AT_ONCE).map(({ room, id, seat }) =>
        ResumingClient.enter({
          room: id,
          name: `Person ${room}-${seat}`,
          pods: podsOf(room, seat),
          ignoresSlot: ignoresSlot(room, seat),
        }),
      );
      people.push(...(await Promise.all(some)));
    }
    await eventually('everybody sees everybody', () => new Crowd(people).agrees(), 10_000);
    return new Crowd(people);
  }

  /** Whether each participant's roster contains exactly the room's participants, all here. */
  agrees(): boolean {
    return this.people.every(
      (one) =>
        one.isIn &&
        one.roster.size === this.#mates(one).length &&
        this.#mates(one).every(({ participant }) => one.roster.get(participant) === 'here'),
    );
  }

  isElsewhere(pod: string): boolean {
    return this.people.every((one) => one.isIn && one.pod !== pod);
  }

  /** Fails where a client is another participant now, was stopped, or saw another leave or join (`except` those whom the test sent). */
  assertUndisturbed({ except }: { except?: string } = {}): void {
    assert.deepEqual(
      this.people
        .filter(({ stopped }) => stopped !== undefined)
        .map(({ name, stopped }) => `${name} ${stopped}`),
      [],
    );
    assert.deepEqual(
      this.people.map(({ participant }) => participant),
      this.people.map((one) => this.#before.get(one)),
    );
    const seen = this.people.flatMap((one) =>
      one.log
        .slice(this.#marks.get(one))
        .filter(({ type, participant }) => type !== 'away' && type !== 'back' && participant !== except)
        .map(({ type, participant }) => `${one.name} saw ${participant} ${type}`),
    );
    assert.deepEqual(seen, []);
  }

  close(): void {
    for (const one of this.people) one.close();
  }

  #mates(one: ResumingClient): readonly ResumingClient[] {
    return this.#roomMates.get(one.room) ?? [];
  }
}
