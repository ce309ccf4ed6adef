/** What a pod has for named rooms: the store of its region, what it follows of others, and how it asks them. */
import type { RegionId } from '@parley/protocol/ids';
import type { FollowedStore, HomeBus, RoomStore, SeatStore, TermStore } from '../core/ports.ts';
import { idleTimes } from '../core/room-life.ts';
import { actingRooms } from './acting-rooms.ts';
import type { Config } from './config.ts';
import { Followers } from './followers.ts';
import { Homes } from './homes.ts';
import type { SignalingPod } from './pod.ts';
import { promote, type Promotion } from './promotion.ts';
import { RoomRenewals } from './room-renewals.ts';
import { roomsOf, type Rooms } from './rooms.ts';
import { sourcesOf } from './sources.ts';
import { Terms } from './terms.ts';

export interface NamedRoomsParts {
  readonly config: Config;
  /** This process: its start in Unix ms. */
  readonly boot: number;
  readonly store: RoomStore;
  readonly seats: SeatStore;
  readonly followed: FollowedStore;
  readonly terms: TermStore;
  readonly homes: HomeBus;
  /** It exists when the first room is used. */
  readonly pod: () => SignalingPod;
}

export interface NamedRooms {
  readonly rooms: Rooms;
  /** Of the rooms of this region. */
  readonly store: Pick<RoomStore, 'create'>;
  readonly homes: Homes;
  readonly followers: Followers;
  readonly terms: Terms;
  promote(home: RegionId, without: readonly RegionId[]): Promise<Promotion>;
  close(): void;
}

export function namedRooms({ config, boot, seats, followed, pod, ...backing }: NamedRoomsParts): NamedRooms {
  const { region, limits } = config;
  const configured = config.regions.map(({ name }) => name);
  const asker = {
    region,
    bus: backing.homes,
    holder: { pod: config.pod, boot },
    limits,
    reaches: (other: RegionId) => pod().core.reaches(other),
    others: () => pod().core.others(),
  };
  const terms = new Terms({
    ...asker,
    store: backing.terms,
    onRaised: () => queueMicrotask(() => pod().handle({ type: 'homes-changed' })),
  });
  const actingFor = (home: RegionId): RegionId => terms.actingFor(home);
  const followers = new Followers({
    ...asker,
    ...sourcesOf({ region, terms, followed, store: backing.store }),
    homes: () => [...new Set([region, ...terms.homes()])],
    actingFor,
  });
  const changed = (home: RegionId, name: string, removed?: number): void =>
    followers.changed(home, name, removed);
  const acting = actingRooms({ region, store: backing.store, followed, terms, changed });
  const renewals = new RoomRenewals({
    store: { update: async (room, record) => acting(record.region)?.update(room, record) },
    seats,
    times: idleTimes(limits),
  });
  const homes = new Homes({
    exists: (other) => configured.includes(other) || asker.others().includes(other),
    ...asker,
    actingFor,
    isAbandoned: ({ room }, seat) => pod().core.isAbandoned(room, seat),
    onAsked: (type, outcome) => pod().metrics.homeRequests.inc({ type, outcome }),
  });
  return {
    rooms: roomsOf({ acting, seats, region, limits, renewals, homes, now: () => performance.now() }),
    store: {
      create: async (record) =>
        acting(region)?.create(record) ?? { ok: false, code: 'ROOM_HOME_UNREACHABLE' },
    },
    homes,
    followers,
    terms,
    promote: (home, without) =>
      promote({ ...asker, terms, configured, followed, store: backing.store }, home, without),
    close() {
      terms.close();
      followers.close();
    },
  };
}
