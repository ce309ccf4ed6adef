/** The versions of rooms that a region copies to others, and which ones. SPEC rules HOME-9, HOME-13 and HOME-15. */
import type { RegionId } from '@parley/protocol/ids';
import type { FollowedRoom, FollowedStore, Revisions, RoomStore, StoreFailure } from '../core/ports.ts';
import type { Terms } from './terms.ts';

export interface Source {
  readonly kind: 'own' | 'versions' | 'written';
  /** The newest version; of a room that it has not, the removal of `removed`, and `undefined` where it never had it. */
  read(
    name: string,
    removed?: number,
  ): Promise<{ readonly ok: true; readonly found: FollowedRoom | undefined } | StoreFailure>;
  list(): Promise<Revisions | StoreFailure>;
  /** Another region has this version: it remains here as one that is followed. Whether that was written. */
  handedOver(name: string, revision: number): Promise<boolean>;
}

type Rooms = Pick<RoomStore, 'read' | 'list' | 'remove'>;

/** A region's own rooms, while no term counts; after a promotion what remains of them until it is handed over. */
export function ownSource(store: Rooms): Source {
  return {
    kind: 'own',
    async read(name, removed) {
      const read = await store.read(name);
      if (!read.ok) return read;
      if (read.found !== undefined) return { ok: true, found: read.found };
      // A removal is a write of the store: a room that is created again has a higher revision.
      return {
        ok: true,
        found: removed === undefined ? undefined : { revision: removed + 1, record: undefined },
      };
    },
    list: () => store.list(),
    async handedOver(name, revision) {
      const read = await store.read(name);
      if (!read.ok) return false;
      if (read.found?.revision !== revision) return true;
      return (await store.remove(read.found)).ok;
    },
  };
}

/** The rooms of a home that this region has under a term. `written`: only the versions that it wrote and has not handed over. */
export function followedSource(
  followed: FollowedStore,
  home: RegionId,
  which: 'versions' | 'written',
): Source {
  return {
    kind: which,
    read: (name) => followed.read(home, name),
    list: () => followed.list(home, which),
    async handedOver(name, revision) {
      const read = await followed.read(home, name);
      if (!read.ok) return false;
      const { found } = read;
      if (found?.revision !== revision || found.includes === undefined) return true;
      return (await followed.replace(home, name, { revision, record: found.record }, found.at)).ok;
    },
  };
}

export interface SourcesParts {
  readonly region: RegionId;
  readonly terms: Pick<Terms, 'actingFor' | 'term'>;
  readonly followed: FollowedStore;
  readonly store: Rooms;
}

/** For `Followers`. */
export function sourcesOf({ region, terms, followed, store }: SourcesParts): {
  readonly versions: (home: RegionId) => Source;
  readonly remains: (home: RegionId) => readonly Source[];
} {
  const own = ownSource(store);
  return {
    versions: (home) => (terms.term(home) === 0 ? own : followedSource(followed, home, 'versions')),
    remains(home) {
      if (terms.term(home) === 0) return [];
      const written = terms.actingFor(home) === region ? [] : [followedSource(followed, home, 'written')];
      // What a home has from before the first promotion it takes over itself, where it answers for its rooms again.
      return home === region ? [own, ...written] : written;
    },
  };
}
