/**
 * What the other pods can be expected to know. The promises do not extend further, and the checks ask here. A participant is excused:
 * - whose pod is killed before its last message had the time to reach every pod (P3), and no other pod knows of it: one that does tells the others (ROS-16);
 * - whose pod is killed while the others know only an older claim (ROS-4): that claim ends early, or has ended;
 * - whose presence was uncertain for a whole grace period, as it was away or a link was broken (RES-2, P4): some pods have seen it leave.
 * An excuse ends once the participant is here, every link is up and every pod had the time to receive that. A participant that is away, and whose
 * pods have all died or closed the room, is forgotten (RES-7): only its client knows, and no roster needs to show it until it resumes.
 */
import type { Person as Row } from '../src/core/person.ts';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import { Knowledge } from './knowledge.ts';

/** A change has reached every pod after this, also where a message was lost: 2 s and a round trip between the groups. */
const PROPAGATION_MS = 2700;
/** A client that receives `away` in time receives it at the latest this long before the grace period ends. */
const SLACK_MS = 1000;

export class Certainty {
  readonly #world: World;
  readonly #cutsAreSafe: boolean;
  readonly #knowledge: Knowledge;
  #wholeSince = 0;
  #lookedAt = 0;
  /** When links were down. */
  readonly #cuts: { readonly from: number; until: number }[] = [];
  /** When and where a participant last entered, became away or left. */
  readonly #changes = new Map<string, { readonly at: number; readonly pod: string }>();
  /** When every pod last knew for certain that the participant was here. */
  readonly #sureAt = new Map<string, number>();
  /** Since when every pod knows that the participant entered. */
  readonly #knownSince = new Map<string, number>();
  readonly #forgotten = new Set<string>();
  readonly #excuses = new Map<string, { readonly from: number; until: number }[]>();

  /** `cutsAreSafe`: a broken link makes no participant's presence uncertain, as it is one between regions (REG-3). */
  constructor(world: World, cutsAreSafe: boolean) {
    this.#world = world;
    this.#cutsAreSafe = cutsAreSafe;
    this.#knowledge = new Knowledge(world);
  }

  /** The participant's state changed on this pod now. */
  changed(person: Person, pod: string): void {
    this.#changes.set(person.id, { at: this.#world.now, pod });
    if (!this.#sureAt.has(person.id)) this.#sureAt.set(person.id, this.#world.now);
    this.#forgotten.delete(person.id);
  }

  /** Whether a link was down then. */
  wasCut(at: number): boolean {
    if (this.#cutsAreSafe) return false;
    return this.#cuts.some(({ from, until }) => at >= from && at <= until);
  }

  /** When the cut between regions ended that lasted then. */
  cutUntil(at: number): number {
    if (!this.#cutsAreSafe) return -Infinity;
    return this.#cuts.find(({ from, until }) => at >= from && at <= until)?.until ?? -Infinity;
  }

  /** Whether links were down for a whole grace period: a pod may have given the seats of another away. */
  get wasCutForLong(): boolean {
    return this.#cuts.some(({ from, until }) => until - from >= this.#world.limits['resume.grace']);
  }

  /** Since when every link has been up. */
  get wholeSince(): number {
    return this.#wholeSince;
  }

  /** Links were restored now. */
  healed(): void {
    this.#wholeSince = this.#world.now;
    const last = this.#cuts.at(-1);
    if (this.#cutsAreSafe && last?.until === this.#lookedAt) last.until = this.#wholeSince;
  }

  /** The pod is about to be killed: what only it knows is lost. */
  killed(pod: string): void {
    const others = [...this.#world.pods.keys()]
      .filter((name) => name !== pod)
      .map((name) => this.#claimsOn(name));
    const own = this.#claimsOn(pod);
    for (const [id, change] of this.#changes) {
      if (change.pod !== pod || this.#isKnown(change.at)) continue;
      if (!this.#world.network.isWhole || !others.some((claims) => isSame(claims.get(id), own.get(id))))
        this.#excuse(id);
    }
    for (const [id, { generation }] of own) {
      const known = Math.max(...others.map((claims) => claims.get(id)?.generation ?? -Infinity));
      // An older claim ends early.
      if (known < generation && known > -Infinity) this.#excuse(id);
    }
    for (const person of this.#world.people) this.#knowledge.look(person);
  }

  /** Must be called after every step. */
  look(): void {
    const { network, now, people } = this.#world;
    if (!network.isWhole) {
      const last = this.#cuts.at(-1);
      if (last?.until === this.#lookedAt) last.until = now;
      else this.#cuts.push({ from: this.#lookedAt, until: now });
      this.#wholeSince = now;
    }
    this.#lookedAt = now;
    for (const person of people) {
      this.#knowledge.look(person);
      if (!person.isHere && this.#knowledge.isClaimLost(person.id)) this.#forgotten.add(person.id);
      this.#lookAt(person);
    }
  }

  #lookAt(person: Person): void {
    const { id, isHere } = person;
    const { network, now, limits } = this.#world;
    const change = this.#changes.get(id);
    if (this.#cutsAreSafe && isHere) this.#sureAt.set(id, now);
    if (change !== undefined && isHere && this.#isKnown(change.at)) {
      this.#sureAt.set(id, now);
      if (!this.#knownSince.has(id)) this.#knownSince.set(id, now);
      this.#endExcuse(id);
    }
    // Away or disconnected for so long that other pods have seen a grace period end; a step may be longer than the rest of it.
    const unsureFrom = (this.#sureAt.get(id) ?? now) + limits['resume.grace'] - SLACK_MS;
    const isCaughtUp = this.#cutsAreSafe || (network.isWhole && now - this.#wholeSince > PROPAGATION_MS);
    if ((!isHere || !isCaughtUp) && now > unsureFrom) this.#excuse(id, unsureFrom);
  }

  /** Whether every pod knows where the participant entered last. */
  isSettled(id: string): boolean {
    const change = this.#changes.get(id);
    return change !== undefined && this.#isKnown(change.at);
  }

  /** Whether every pod knew the participant by then. */
  wasKnown(id: string, at: number): boolean {
    return at > (this.#knownSince.get(id) ?? Infinity);
  }

  /** Every pod that knew the participant has died or closed the room since it was last here: only clients remember it. */
  isForgotten(id: string): boolean {
    return this.#forgotten.has(id);
  }

  /** Others may see this participant leave although it has not, or show it although it has left. */
  isExcused(id: string): boolean {
    return this.#excuses.get(id)?.at(-1)?.until === Infinity;
  }

  /** The others may show an earlier name and earlier media of this participant. */
  isOutdated(id: string): boolean {
    return this.#knowledge.isLookLost(id);
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

  /** All participants in a pod's rosters. */
  #claimsOn(pod: string): Map<string, Row> {
    const core = this.#world.pods.get(pod)?.core;
    const rooms = new Set(this.#world.people.map(({ view }) => view.room));
    const rows = [...rooms].flatMap((room) => core?.people(room) ?? []);
    return new Map(rows.map((row) => [row.participant, row]));
  }

  #isKnown(since: number): boolean {
    return (
      this.#world.now - Math.max(since, this.#wholeSince) > PROPAGATION_MS && this.#world.network.isWhole
    );
  }
}

const isSame = (one: Row | undefined, other: Row | undefined): boolean =>
  one !== undefined && one.generation === other?.generation && one.state === other.state;
