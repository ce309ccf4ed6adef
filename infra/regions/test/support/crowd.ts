/** Clients of one room in all regions: how many are in it at the same time, as they see it themselves. */
import { Client, join, NO_MEDIA } from '../../../../services/signaling/test/support/client.ts';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { podNumbers } from '../../src/pods.ts';
import type { Regions } from '../../src/regions.ts';
import { regionNames, type RegionName } from '../../src/site.ts';

/** An entry, with a request to a home region that does not answer. */
const ANSWERED_WITHIN_MS = 15_000;
/** Longer than any test. */
const STAYS_AT_MOST_MS = 3_600_000;
/** Regions discover each other with their first heartbeats. */
const KNOWN_WITHIN_MS = 10_000;

export class Crowd {
  readonly #regions: Regions;
  readonly #room: string;
  readonly #present = new Set<Client>();
  /** The most that were in the room at the same time. */
  most = 0;
  /** The longest wait for the answer to a join, or to an entry, in ms. */
  longestMs = 0;
  /** How often a participant that had left came back. */
  returned = 0;
  /** By code: how often an entry was refused. */
  readonly refused = new Map<string, number>();

  constructor(regions: Regions, room: string) {
    this.#regions = regions;
    this.#room = room;
  }

  get present(): readonly Client[] {
    return [...this.#present];
  }

  /** The code of a refusal; `undefined` where the client is in the room now. */
  async enter(region: RegionName, name: string): Promise<string | undefined> {
    const url = this.#pod(region);
    const joined = await this.#timed(join(url, this.#room));
    if (!joined.ok) return this.#refuse(joined.error.code);
    const client = new Client(this.#room);
    await client.connect(url);
    client.generation = 1;
    const { ticket } = joined.answer;
    client.sendMessage({ type: 'enter', ticket, generation: 1, name, media: NO_MEDIA });
    return this.#timed(this.#outcome(client, () => client.welcomed()));
  }

  /** Leaves, and tries to come back at once with its token, in another region. */
  async leaveAndResume(client: Client, region: RegionName): Promise<string | undefined> {
    this.#present.delete(client);
    client.leave();
    await client.waitForClose();
    const code = await this.#outcome(client, () => client.resume(this.#pod(region)));
    if (code === undefined) this.returned += 1;
    return code;
  }

  /** All leave; resolves when they have. */
  async empty(): Promise<void> {
    const all = this.present;
    this.leave();
    await Promise.all(all.map((client) => client.waitForClose()));
  }

  leave(): void {
    for (const client of this.#present) client.leave();
  }

  async #outcome(client: Client, welcomed: () => Promise<unknown>): Promise<string | undefined> {
    try {
      await welcomed();
    } catch {
      return this.#refuse((await client.refusedWith(ANSWERED_WITHIN_MS)).code ?? 'closed');
    }
    this.#present.add(client);
    this.most = Math.max(this.most, this.#present.size);
    void client.waitForClose(STAYS_AT_MOST_MS).then(() => this.#present.delete(client));
    return undefined;
  }

  async #timed<Answer>(asked: Promise<Answer>): Promise<Answer> {
    const begun = performance.now();
    const answer = await asked;
    this.longestMs = Math.max(this.longestMs, performance.now() - begun);
    return answer;
  }

  #refuse(code: string): string {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
    return code;
  }

  #pod(region: RegionName): string {
    const number = podNumbers[Math.trunc(Math.random() * podNumbers.length)] ?? 1;
    return this.#regions.pod(region, number);
  }
}

/** Resolves when the pods of all regions reach the home of the room. */
export async function isKnownEverywhere(regions: Regions, room: string): Promise<void> {
  for (const region of regionNames)
    for (const number of podNumbers)
      await eventually(
        `${region} knows the room`,
        async () => (await fetch(`${regions.pod(region, number)}/v1/rooms/${room}`)).ok,
        KNOWN_WITHIN_MS,
      );
}

/** In turns. */
export const regionAt = (index: number): RegionName => regionNames[index % regionNames.length] ?? 'eu';
