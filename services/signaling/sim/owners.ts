/**
 * Owners' requests as the HTTP API makes them, and what they promise: a kicked or banned participant is out within 2 s where every pod can be
 * reached, and never comes back (MOD-1, MOD-2); a request about a participant that every pod knows is carried out (MOD-10).
 */
import assert from 'node:assert/strict';
import type { RoomId } from '@parley/protocol/ids';
import type { ModerationAction, RoomPolicy } from '@parley/protocol/bus';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import type { Certainty } from './certainty.ts';

/** Within this a ban closes the sockets that it matches, and a round trip between the groups more. */
const OUT_MS = 2600;
/** A pod that missed the policy reads it within 72 s (MOD-9), or when it opened the room. */
const OUT_BY_READING_MS = 75_000;
/** The pod that changed a policy publishes it for so long. */
const PUBLISHING_MS = 1200;
/** A pod answers a request by then. */
const ANSWERED_MS = 6100;
/** Every pod knows a newcomer in the lobby by then. */
const KNOWN_MS = 2700;

interface Sanction {
  readonly at: number;
  /** Only clients that have the mark are turned away at the door too. */
  readonly isBan: boolean;
  /** Set where the pods may have to read the policy. */
  isHindered: boolean;
}

export class Owners {
  readonly #world: World;
  readonly #certainty: Certainty;
  readonly #sanctions = new Map<string, Sanction>();
  /** Sockets that must be refused: how many messages the participant had before. */
  readonly #intruders = new Map<Person, number>();
  #published = { at: -Infinity, isHindered: false };
  #bans = 0;

  constructor(world: World, certainty: Certainty) {
    this.#world = world;
    this.#certainty = certainty;
  }

  isSanctioned = ({ id }: Person): boolean => this.#sanctions.has(id);

  /** Its pod missed the policy, and has not had to read it yet (MOD-9): until then every pod may show the participant. */
  mayStillBeIn = (id: string): boolean => {
    const sanction = this.#sanctions.get(id);
    return sanction?.isHindered === true && this.#world.now <= sanction.at + OUT_BY_READING_MS;
  };

  /** A pod may have missed the newest policy, and has not had to read it yet (MOD-9). */
  get mayLackPolicy(): boolean {
    const { at, isHindered } = this.#published;
    return isHindered && this.#world.now <= at + OUT_BY_READING_MS;
  }

  sanctionedAt = (id: string): number | undefined => this.#sanctions.get(id)?.at;

  /** Asks this pod, waits for the answer, and fails where no pod carries out what every pod can. Returns whether it was done. */
  ask(pod: string, action: ModerationAction, person: Person): boolean {
    const isDue = this.#isKnownToAll(person);
    const outcome = this.#outcomeOf(pod, action, person);
    const what = `${action} of ${person.name} through pod ${pod}`;
    assert.ok(outcome !== undefined, `${what} was not answered`);
    const isStillDue = isDue && this.#world.network.isWhole && !this.#certainty.isExcused(person.id);
    assert.ok(outcome !== 'unknown' || !isStillDue, `${what} found no participant`);
    return outcome === 'done';
  }

  #outcomeOf(pod: string, action: ModerationAction, person: Person): string | undefined {
    const ref = this.#world.request(pod, person.view.room, action, person);
    for (let waited = 0; waited < ANSWERED_MS; waited += 50) {
      const answer = this.#world.moderated.find((one) => one.ref === ref);
      if (answer !== undefined) return answer.outcome;
      this.#world.advance(50);
      this.#certainty.look();
    }
    return undefined;
  }

  #isKnownToAll({ id, line, wasWelcomed, joinedAt }: Person): boolean {
    const { now, network } = this.#world;
    if (!network.isWhole || this.#certainty.isExcused(id)) return false;
    if (line.state === 'here') return this.#certainty.isSettled(id);
    const knownAt = Math.max(joinedAt, this.#certainty.wholeSince) + KNOWN_MS;
    return !wasWelcomed && line.state === 'arriving' && now > knownAt;
  }

  /** The kick was carried out: the store records it, so that the tokens of the participant are refused. */
  recordKick(pod: string, person: Person): void {
    this.#sanction(person, false);
    const { room } = person.view;
    const kicked = [...(this.#world.store.policies.get(room)?.kicked ?? []), person.id];
    this.#publish(pod, this.#world.store.change(room, { kicked }));
  }

  /** Returns whom the ban matches. */
  ban(pod: string, person: Person): Person[] {
    const { room } = person.view;
    const device = person.visitor?.device ?? '';
    this.#bans += 1;
    const bans = [...(this.#world.store.policies.get(room)?.bans ?? []), { id: `${this.#bans}`, device }];
    const matched = this.#world.people.filter(
      ({ owner, view, visitor }) => !owner && view.room === room && visitor?.device === device,
    );
    for (const one of matched) this.#sanction(one, true);
    this.#publish(pod, this.#world.store.change(room, { bans }));
    return matched;
  }

  setLobby(pod: string, room: RoomId, lobby: boolean): void {
    this.#publish(pod, this.#world.store.change(room, { view: { lobby } }));
  }

  isBanned(room: RoomId, device: string | undefined): boolean {
    return this.#world.store.policies.get(room)?.bans.some((ban) => ban.device === device) ?? false;
  }

  /** From now on this participant must not be welcomed again. */
  watch(intruder: Person): void {
    this.#intruders.set(intruder, intruder.log.length);
  }

  /** Links were cut, or a pod was killed, and may not learn in time what was published just before. */
  hindered(): void {
    for (const sanction of this.#sanctions.values())
      if (this.#world.now <= sanction.at + PUBLISHING_MS) sanction.isHindered = true;
    if (this.#world.now <= this.#published.at + PUBLISHING_MS) this.#published.isHindered = true;
  }

  /** Must be called after every step. */
  check(): void {
    const { now, network, people } = this.#world;
    if (!network.isWhole)
      for (const sanction of this.#sanctions.values())
        if (now <= sanction.at + OUT_MS) sanction.isHindered = true;
    if (!network.isWhole && now <= this.#published.at + OUT_MS) this.#published.isHindered = true;
    for (const person of people) {
      const sanction = this.#sanctions.get(person.id);
      if (sanction === undefined || !person.isHere) continue;
      const dueMs = sanction.isHindered ? OUT_BY_READING_MS : OUT_MS;
      assert.ok(now <= sanction.at + dueMs, `${person.name} is out, ${now - sanction.at} ms later`);
    }
    for (const [intruder, before] of this.#intruders) {
      const isIn = intruder.log.slice(before).some(({ type }) => type === 'welcome');
      assert.ok(!isIn, `${intruder.name} was to be kept out`);
    }
  }

  #sanction(person: Person, isBan: boolean): void {
    if (this.#sanctions.has(person.id)) return;
    const { now, network } = this.#world;
    this.#sanctions.set(person.id, { at: now, isBan, isHindered: !network.isWhole });
  }

  #publish(pod: string, policy: RoomPolicy): void {
    this.#published = { at: this.#world.now, isHindered: this.mayLackPolicy || !this.#world.network.isWhole };
    this.#world.handle(pod, { type: 'policy', policy, notify: true });
  }
}
