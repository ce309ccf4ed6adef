/** Pods of three regions, each with its own stores, of which any may be lost. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { memoryFollowed } from '../../src/adapters/memory-followed.ts';
import { memoryRooms } from '../../src/adapters/memory-rooms.ts';
import { memorySeats } from '../../src/adapters/memory-seats.ts';
import { memoryTerms } from '../../src/adapters/memory-terms.ts';
import type { HomeAnswer, HomeRequest } from '@parley/protocol/home';
import type { HomeBus } from '../../src/core/ports.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, join } from './client.ts';
import { eventually } from './deadline.ts';
import { keySet, memory, startTestPod, type Memory } from './pod.ts';

const LIMITS = {
  'home.cacheTtl': 0,
  'address.joins': 100_000,
  'address.rooms': 10_000,
  'address.moderation': 100_000,
};
/** A region that is silent is cut off after 3.5 s. */
const CUT_WITHIN_MS = 10_000;
/** Pods learn of a promotion once a second; records are compared within 5 s. */
export const LEARNT_WITHIN_MS = 15_000;

export type Region = 'eu' | 'us' | 'ap';
export const REGIONS: readonly Region[] = ['eu', 'us', 'ap'];
const CONFIGURED = REGIONS.map((name) => ({ name, url: `https://${name}.example.com` }));

export class World {
  readonly lost = new Set<string>();
  /** Regions that get no records. */
  readonly unfollowing = new Set<string>();
  /** Awaited before another region is asked about a promotion. */
  beforePropose: (by: Region) => Promise<void> = () => Promise.resolve();
  readonly places: Readonly<Record<Region, Memory>>;
  readonly #keys = keySet();
  readonly #pods = new Map<Region, RunningPod>();
  readonly #answers = new Map<Region, (request: HomeRequest) => Promise<HomeAnswer>>();

  constructor(t: TestContext) {
    const shared = memory();
    const place = (region: Region): Memory => ({
      ...shared,
      store: memoryRooms(),
      seats: memorySeats(),
      followed: memoryFollowed(),
      terms: memoryTerms(),
      homes: { join: () => this.#bus(shared.homes.join(region), region) },
    });
    this.places = { eu: place('eu'), us: place('us'), ap: place('ap') };
    t.after(async () => {
      for (const pod of this.#pods.values()) await pod.close();
    });
  }

  async start(region: Region): Promise<void> {
    const pod = await startTestPod({
      name: `${region}_pod`,
      memory: this.places[region],
      keys: this.#keys,
      limits: LIMITS,
      config: { region, regions: CONFIGURED },
    });
    this.#pods.set(region, pod);
  }

  /** The process ends; its stores stay. */
  async stop(region: Region): Promise<void> {
    await this.pod(region).close();
    this.#pods.delete(region);
  }

  /** Each region reaches each other one. */
  async connected(): Promise<void> {
    for (const region of REGIONS)
      await eventually(
        `${region} reaches the others`,
        () => REGIONS.every((other) => other === region || this.pod(region).pod.core.reaches(other)),
        CUT_WITHIN_MS,
      );
  }

  /** The region ends, and the others know that they do not reach it. */
  async lose(region: Region): Promise<void> {
    this.lost.add(region);
    await this.stop(region);
    for (const other of this.#pods.values())
      await eventually('it is cut off', () => !other.pod.core.reaches(region), CUT_WITHIN_MS);
  }

  pod(region: Region): RunningPod {
    const pod = this.#pods.get(region);
    assert.ok(pod);
    return pod;
  }

  url(region: Region): string {
    return this.pod(region).url;
  }

  async promote(region: Region, home: string, body: unknown = { without: [] }) {
    const answer = await fetch(`${this.url(region)}/admin/homes/${home}/promote`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  /** How many records a pod of the region has read of other regions. */
  async reads(region: Region): Promise<number> {
    const { values } = await this.pod(region).pod.metrics.homeRequests.get();
    return values.reduce((sum, { labels, value }) => sum + (labels.type === 'read' ? value : 0), 0);
  }

  #bus(bus: HomeBus, region: Region): HomeBus {
    return {
      ...bus,
      ask: async (other, request, timeoutMs) => {
        if (request.type === 'promote') await this.beforePropose(region);
        const isLost = this.lost.has(other) || this.lost.has(region);
        const isDropped = request.type === 'follow' && this.unfollowing.has(other);
        return isLost || isDropped ? undefined : bus.ask(other, request, timeoutMs);
      },
      // Of the processes of a region the last one answers.
      serve: (answer) => {
        const isFirst = !this.#answers.has(region);
        this.#answers.set(region, answer);
        if (isFirst) bus.serve((request) => this.#answer(region, request));
      },
    };
  }

  #answer(region: Region, request: HomeRequest): Promise<HomeAnswer> {
    const answer = this.#pods.has(region) ? this.#answers.get(region) : undefined;
    return answer?.(request) ?? new Promise(() => undefined);
  }
}

export async function threeRegions(t: TestContext): Promise<World> {
  const world = new World(t);
  for (const region of REGIONS) await world.start(region);
  await world.connected();
  return world;
}

const as = (name: string): { readonly body: string } => ({
  body: JSON.stringify({ device: name[0]?.repeat(16) }),
});

export async function enter(url: string, room: string, name: string): Promise<Client> {
  const client = new Client(room);
  await client.enter(url, name, as(name));
  return client;
}

export async function codeOfJoin(url: string, room: string, name = 'x'): Promise<string | undefined> {
  const joined = await join(url, room, as(name));
  return joined.ok ? undefined : joined.error.code;
}

export const nameOf = (room: string): string => room.slice(0, room.indexOf('@'));

/** Both followers have the newest version. */
export async function followed(world: World, room: string): Promise<void> {
  const read = await world.places.eu.store.read(nameOf(room));
  assert.ok(read.ok && read.found);
  const { revision } = read.found;
  for (const region of ['us', 'ap'] as const)
    await eventually(`${region} follows`, async () => {
      const kept = await world.places[region].followed.read('eu', nameOf(room));
      return kept.ok && kept.found?.revision === revision;
    });
}
