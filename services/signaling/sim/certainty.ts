/**
 * What the other pods can be expected to know. A person whose last word was said on a pod that had no links, or died with it, is known to
 * nobody as it is; the promises do not reach that far, and the checks ask here.
 */
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';

/** A change has reached everyone after this, also where a message of it was lost: 2 s and a round trip between the groups. */
export const KNOWN_WITHIN_MS = 2700;
/** A client that was told "away" on time is not told so later than this before its grace ends. */
const SLACK_MS = 1000;

export class Certainty {
  readonly #world: World;
  #wholeSince = 0;
  /** Times in which news could not reach everyone: from a link's end until what was missed has been made up for. */
  readonly #troubles: { readonly from: number; until: number }[] = [];
  /** When a person last came, went or left, and where. */
  readonly #said = new Map<string, { readonly at: number; readonly pod: string }>();
  /** When everybody last knew for certain that the person was there. */
  readonly #sureAt = new Map<string, number>();
  /** Since when everybody knows that the person has come. */
  readonly #knownSince = new Map<string, number>();
  readonly #doubtful = new Set<string>();
  readonly #excused = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The person's state changed on this pod just now. */
  say(person: Person, pod: string): void {
    this.#said.set(person.id, { at: this.#world.now, pod });
    if (!this.#sureAt.has(person.id)) this.#sureAt.set(person.id, this.#world.now);
    this.#doubtful.delete(person.id);
  }

  /** Links have come back just now. */
  healed(): void {
    this.#wholeSince = this.#world.now;
    this.#noteTrouble();
  }

  wasTroubled(at: number): boolean {
    return this.#troubles.some(({ from, until }) => at >= from && at <= until);
  }

  #noteTrouble(): void {
    const { now } = this.#world;
    if (this.#wholeSince !== now) return;
    const last = this.#troubles.at(-1);
    if (last === undefined || last.until < now)
      this.#troubles.push({ from: now, until: now + KNOWN_WITHIN_MS });
    else last.until = now + KNOWN_WITHIN_MS;
  }

  /** The pod was killed: what only it knew died with it. */
  killed(pod: string): void {
    for (const [id, said] of this.#said)
      if (said.pod === pod && !this.#isKnown(said.at)) this.#doubtful.add(id);
  }

  /** To be called after every step. */
  look(): void {
    const { network, now, people } = this.#world;
    if (!network.isWhole) this.#wholeSince = now;
    this.#noteTrouble();
    for (const person of people) {
      const said = this.#said.get(person.id);
      if (said !== undefined && person.isHere && this.#isKnown(said.at)) {
        this.#sureAt.set(person.id, now);
        if (!this.#knownSince.has(person.id)) this.#knownSince.set(person.id, now);
      }
      const sureAt = this.#sureAt.get(person.id) ?? now;
      if (!person.isHere && now - sureAt > this.#world.limits['resume.grace'] - SLACK_MS)
        this.#excused.add(person.id);
      // Cut off for so long that others have seen a grace period end.
      if (!network.isWhole && now - sureAt > this.#world.limits['resume.grace'] - SLACK_MS)
        this.#excused.add(person.id);
    }
  }

  /** Whether everybody had heard of the person by then. */
  wasKnown(id: string, at: number): boolean {
    return at > (this.#knownSince.get(id) ?? Infinity);
  }

  /** Nobody but a dead pod knew the person's last state: a roster may show it or not. */
  isDoubtful(id: string): boolean {
    return this.#doubtful.has(id);
  }

  /** Others may have seen this person leave though it had not. */
  isExcused(id: string): boolean {
    return this.#excused.has(id) || this.#doubtful.has(id);
  }

  #isKnown(since: number): boolean {
    return (
      this.#world.now - Math.max(since, this.#wholeSince) > KNOWN_WITHIN_MS && this.#world.network.isWhole
    );
  }
}
