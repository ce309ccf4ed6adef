/** Participants without media, two in each region, on different pods of it: what each of them sees of the others, and when. */
import assert from 'node:assert/strict';
import { MAX_STALL_MS } from '@parley/e2e/support/stalls.ts';
import type { Member } from '@parley/protocol/people';
import type { Undelivered } from '@parley/protocol/server-messages';
import { Client } from '../../../../services/signaling/test/support/client.ts';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { randomRoom } from '../../../../services/signaling/test/support/pod.ts';
import { podNumbers, type PodNumber } from '../../src/pods.ts';
import type { Regions } from '../../src/regions.ts';
import { regionNames, type RegionName } from '../../src/site.ts';

/** Regions discover each other with their first heartbeats. */
const AGREE_WITHIN_MS = 10_000;
const ROSTER = new Set(['joined', 'left', 'away', 'unreachable', 'back']);

export type Seen = 'joined' | 'left' | 'away' | 'unreachable' | 'back';

export class Person {
  readonly name: string;
  readonly region: RegionName;
  #client: Client;
  #mark = 0;
  #messages = 0;

  constructor(name: string, region: RegionName, client: Client) {
    this.name = name;
    this.region = region;
    this.#client = client;
  }

  get client(): Client {
    return this.#client;
  }

  /** Resumes on another pod; its old socket is left as it is. */
  async resume(pod: string): Promise<void> {
    const { room, generation, welcome } = this.#client;
    const client = new Client(room);
    client.generation = generation;
    await client.connect(pod);
    client.sendResume(this.name, welcome.resume);
    await client.welcomed();
    this.#client = client;
    this.#mark = 0;
  }

  get id(): string {
    return this.client.participant;
  }

  /** What is seen before this does not count. */
  mark(): void {
    this.#mark = this.client.log.length;
  }

  /** What this one was notified of that participant since the mark. */
  sawOf(id: string): Seen[] {
    return this.#events()
      .filter((event) => event.id === id)
      .map(({ seen }) => seen);
  }

  /** Participants of whom this one was notified since the mark. */
  sawAnyOf(): Set<string> {
    return new Set(this.#events().map(({ id }) => id));
  }

  /** The others, and the state of each. */
  roster(): ReadonlyMap<string, Member['state']> {
    const roster = new Map<string, Member['state']>();
    for (const message of this.client.log) {
      if (message.type === 'welcome') {
        roster.clear();
        for (const { participant, state } of message.roster) roster.set(participant, state);
      } else if (message.type === 'joined') roster.set(message.member.participant, message.member.state);
      else if (message.type === 'left') roster.delete(message.participant);
      else if (message.type === 'back') roster.set(message.participant, 'here');
      else if (message.type === 'away' || message.type === 'unreachable')
        roster.set(message.participant, message.type);
    }
    roster.delete(this.id);
    return roster;
  }

  /** When the last such notification of that participant arrived. */
  async sees(seen: Seen, of: Person, withinMs: number): Promise<number> {
    const found = await eventually(
      `${this.name} sees ${of.name} ${seen}`,
      () => this.#events().findLast((event) => event.id === of.id && event.seen === seen),
      withinMs + MAX_STALL_MS,
    );
    return found.at;
  }

  /** Whether a message arrives at that one: how long it took. */
  async reaches(to: Person, withinMs: number): Promise<number> {
    const payload = this.#newId();
    const sentAt = performance.now();
    this.client.send(to.id, payload, payload);
    await to.client.waitForDirected(payload, withinMs + MAX_STALL_MS);
    return performance.now() - sentAt;
  }

  /** How long it took until this one was notified that a message to that one is not delivered, and why. */
  async fails(to: Person, withinMs: number): Promise<{ reason: Undelivered['reason']; afterMs: number }> {
    const id = this.#newId();
    const sentAt = performance.now();
    this.client.send(to.id, id, id);
    const { reason } = await this.client.waitFor('undelivered', {
      since: this.#mark,
      timeoutMs: withinMs + MAX_STALL_MS,
      match: (message) => message.id === id,
    });
    return { reason, afterMs: performance.now() - sentAt };
  }

  #newId(): string {
    this.#messages += 1;
    return `${this.name}-${this.#messages}`;
  }

  #events(): { readonly seen: Seen; readonly id: string; readonly at: number }[] {
    const { log, arrivals } = this.client;
    return log.slice(this.#mark).flatMap((message) => {
      if (!ROSTER.has(message.type)) return [];
      const seen = message.type as Seen;
      const at = arrivals.get(message) ?? 0;
      if (message.type === 'joined') return [{ seen, id: message.member.participant, at }];
      return 'participant' in message ? [{ seen, id: message.participant, at }] : [];
    });
  }
}

export class People {
  readonly room: string;
  readonly all: readonly Person[];
  readonly #regions: Regions;

  private constructor(regions: Regions, room: string, all: readonly Person[]) {
    this.#regions = regions;
    this.room = room;
    this.all = all;
  }

  /** Resolves when each has seen all others. */
  static async meet(regions: Regions): Promise<People> {
    const room = randomRoom();
    const all: Person[] = [];
    for (const region of regionNames)
      for (const pod of podNumbers) {
        const name = `${region}-${pod}`;
        const client = new Client(room);
        await client.enter(regions.pod(region, pod), name);
        all.push(new Person(name, region, client));
      }
    const people = new People(regions, room, all);
    await people.agree();
    return people;
  }

  in(region: RegionName): readonly [Person, Person] {
    const [first, second] = this.all.filter((one) => one.region === region);
    assert.ok(first && second);
    return [first, second];
  }

  /** What any of them has seen before does not count from now on. */
  mark(): void {
    for (const one of this.all) one.mark();
  }

  /** Resolves when each sees exactly the others, and all of them are here. */
  async agree(): Promise<void> {
    const see = this.all.length - 1;
    const agrees = (one: Person): boolean => {
      const states = [...one.roster().values()];
      return states.length === see && states.every((state) => state === 'here');
    };
    await eventually('all see each other', () => this.all.every(agrees), AGREE_WITHIN_MS);
  }

  /** Fails where one has seen something else of another than expected. */
  assertSaw(expected: (watcher: Person, of: Person) => readonly Seen[], watchers = this.all): void {
    const differ = this.#pairs().flatMap(([watcher, of]) => {
      if (!watchers.includes(watcher)) return [];
      const [saw, should] = [watcher.sawOf(of.id).join(', '), expected(watcher, of).join(', ')];
      return saw === should ? [] : [`${watcher.name} saw of ${of.name}: ${saw}; expected: ${should}`];
    });
    assert.deepEqual([...differ, ...this.#doubled()], []);
  }

  /** Fails where one has left, joined or was doubled for another, or is not here now. Returns how often one was away or unreachable. */
  assertAllStayed(): Record<'away' | 'unreachable', number> {
    const count = { away: 0, unreachable: 0 };
    const lost = this.#pairs().flatMap(([watcher, of]) => {
      const saw = watcher.sawOf(of.id);
      for (const seen of saw) if (seen === 'away' || seen === 'unreachable') count[seen] += 1;
      const isBack = saw.length === 0 || saw.at(-1) === 'back';
      const hasStayed = !saw.includes('left') && !saw.includes('joined');
      return hasStayed && isBack ? [] : [`${watcher.name} saw of ${of.name}: ${saw.join(', ')}`];
    });
    assert.deepEqual([...lost, ...this.#doubled()], []);
    return count;
  }

  /** Fails where a newcomer on any pod does not find exactly these in the room, each once and here. */
  async assertRosters(): Promise<void> {
    const expected = this.all.map(({ id }) => `${id} here`).toSorted();
    for (const region of regionNames)
      for (const pod of podNumbers) {
        const { roster, participant: own } = await this.#visit(region, pod);
        const others = roster.filter(({ participant }) => participant !== own);
        const found = others.map(({ participant, state }) => `${participant} ${state}`).toSorted();
        assert.deepEqual(found, expected, `the roster at ${region} ${pod}`);
      }
  }

  leave(): void {
    for (const { client } of this.all) client.leave();
  }

  async #visit(region: RegionName, pod: PodNumber): Promise<Client['welcome']> {
    const newcomer = new Client(this.room);
    const welcome = await newcomer.enter(this.#regions.pod(region, pod), 'Newcomer');
    const { participant: own } = welcome;
    // One that leaves before the others have seen it never left for them.
    await this.#all((client) =>
      client.waitFor('joined', { match: ({ member }) => member.participant === own }),
    );
    newcomer.leave();
    await newcomer.waitForClose();
    // It is gone everywhere before the next one comes.
    await this.#all((client) => client.waitFor('left', { match: ({ participant }) => participant === own }));
    return welcome;
  }

  async #all(seen: (client: Client) => Promise<unknown>): Promise<void> {
    await Promise.all(this.all.map(({ client }) => seen(client)));
  }

  /** Rows of participants that are none of these. */
  #doubled(): string[] {
    const ids = new Set(this.all.map(({ id }) => id));
    return this.all.flatMap((one) =>
      [...one.sawAnyOf()].filter((id) => !ids.has(id)).map((id) => `${one.name} saw ${id}`),
    );
  }

  #pairs(): (readonly [Person, Person])[] {
    return this.all.flatMap((one) =>
      this.all.filter((other) => other !== one).map((other) => [one, other] as const),
    );
  }
}
