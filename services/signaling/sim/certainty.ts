/**
 * What the other pods can be expected to know; the promises do not reach further, and the checks ask here. A person is excused:
 * - whose pod is killed before its last word has had the time to reach everyone (P3): nobody else may know of it;
 * - whose pod is killed while others know an older claim only (ROS-4): that one ends before its time, or has;
 * - of whom nobody could be sure for a whole grace period, as it was away or a link was broken (RES-2, P4): some have seen it end.
 * An excuse ends once the person is there, every link is up and everybody has had the time to hear of it. A person who is away and whose
 * every pod died, or closed the room, is forgotten (RES-7): its client alone knows, and nobody's roster need show it until it is back.
 */
import { ROOM } from '../test/support/ad-hoc.ts';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';

/** A change has reached everyone after this, also where a message of it was lost: 2 s and a round trip between the groups. */
export const KNOWN_WITHIN_MS = 2700;
/** A client that was told "away" on time is not told so later than this before its grace ends. */
const SLACK_MS = 1000;

export class Certainty {
  readonly #world: World;
  #wholeSince = 0;
  /** When a person last came, went or left, and where. */
  readonly #said = new Map<string, { readonly at: number; readonly pod: string }>();
  /** When everybody last knew for certain that the person was there. */
  readonly #sureAt = new Map<string, number>();
  /** Since when everybody knows that the person has come. */
  readonly #knownSince = new Map<string, number>();
  readonly #forgotten = new Set<string>();
  readonly #excuses = new Map<string, { readonly from: number; until: number }[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The person's state changed on this pod just now. */
  say(person: Person, pod: string): void {
    this.#said.set(person.id, { at: this.#world.now, pod });
    if (!this.#sureAt.has(person.id)) this.#sureAt.set(person.id, this.#world.now);
    this.#forgotten.delete(person.id);
  }

  /** Links have come back just now. */
  healed(): void {
    this.#wholeSince = this.#world.now;
  }

  /** The pod is being killed: what only it knew dies with it. */
  killed(pod: string): void {
    for (const [id, said] of this.#said) {
      if (said.pod === pod && !this.#isKnown(said.at)) this.#excuse(id);
    }
    const others = [...this.#world.pods.keys()]
      .filter((name) => name !== pod)
      .map((name) => this.#claimsOn(name));
    for (const [id, generation] of this.#claimsOn(pod)) {
      const known = Math.max(...others.map((claims) => claims.get(id) ?? -Infinity));
      if (known >= generation) continue;
      this.#forgotten.add(id);
      // An older claim ends before its time.
      if (known > -Infinity) this.#excuse(id);
    }
  }

  /** To be called after every step. */
  look(): void {
    const { network, now, people, pods } = this.#world;
    if (!network.isWhole) this.#wholeSince = now;
    if ([...pods.keys()].every((name) => this.#claimsOn(name).size === 0))
      for (const { id, isHere } of people) if (!isHere) this.#forgotten.add(id);
    for (const person of people) this.#lookAt(person);
  }

  #lookAt(person: Person): void {
    const { id, isHere } = person;
    const { network, now, limits } = this.#world;
    const said = this.#said.get(id);
    if (said !== undefined && isHere && this.#isKnown(said.at)) {
      this.#sureAt.set(id, now);
      if (!this.#knownSince.has(id)) this.#knownSince.set(id, now);
      this.#endExcuse(id);
    }
    // Away, or cut off, for so long that others have seen a grace period end; a step may be longer than what is left of it.
    const unsureFrom = (this.#sureAt.get(id) ?? now) + limits['resume.grace'] - SLACK_MS;
    const isCaughtUp = network.isWhole && now - this.#wholeSince > KNOWN_WITHIN_MS;
    if ((!isHere || !isCaughtUp) && now > unsureFrom) this.#excuse(id, unsureFrom);
  }

  /** Whether everybody had heard of the person by then. */
  wasKnown(id: string, at: number): boolean {
    return at > (this.#knownSince.get(id) ?? Infinity);
  }

  /** Every pod that knew of the person has died or closed the room since it was last there: only clients remember it. */
  isForgotten(id: string): boolean {
    return this.#forgotten.has(id);
  }

  /** Others may see this person leave though it has not, or show it though it has. */
  isExcused(id: string): boolean {
    return this.#excuses.get(id)?.at(-1)?.until === Infinity;
  }

  wasExcused(id: string, at: number): boolean {
    return this.#excuses.get(id)?.some(({ from, until }) => at >= from && at <= until) ?? false;
  }

  wasExcusedSince(id: string, at: number): boolean {
    return this.#excuses.get(id)?.some(({ until }) => until >= at) ?? false;
  }

  #excuse(id: string, from = this.#world.now): void {
    if (this.isExcused(id)) return;
    const excuses = this.#excuses.get(id) ?? [];
    excuses.push({ from, until: Infinity });
    this.#excuses.set(id, excuses);
  }

  #endExcuse(id: string): void {
    const last = this.#excuses.get(id)?.at(-1);
    if (last?.until === Infinity) last.until = this.#world.now;
  }

  /** The generation of everybody on a pod's roster. */
  #claimsOn(pod: string): Map<string, number> {
    const people = this.#world.pods.get(pod)?.core.people(ROOM) ?? [];
    return new Map(people.map(({ participant, generation }) => [participant, generation]));
  }

  #isKnown(since: number): boolean {
    return (
      this.#world.now - Math.max(since, this.#wholeSince) > KNOWN_WITHIN_MS && this.#world.network.isWhole
    );
  }
}
