/** The room through the relays, as a test says it is. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { RelayedMedia, RelayedPerson, RelayedRoom, RelayedRoomOptions } from '../../src/ports.ts';
import { fakeStream } from './media.ts';

export interface FakeRelays {
  readonly load: () => Promise<RelayedMedia>;
  /** The part of the application cannot be had. */
  missing: boolean;
  /** Rooms that are open now. */
  readonly open: Set<FakeRelayedRoom>;
  /** Whose media is sealed with a key that is not ours. */
  readonly otherKey: Set<ParticipantId>;
  /** Of everybody that is subscribed to: it came. */
  bring(participant: ParticipantId): void;
  /** The way to the relay is lost: nothing of anybody is here any more. */
  lose(): void;
  state: RelayedRoom['state'];
}

type FakeRelayedRoom = RelayedRoom & {
  readonly followed: ReadonlyMap<ParticipantId, unknown>;
  /** Who is heard in the mix. */
  readonly mixed: ReadonlySet<ParticipantId>;
  readonly secret: string | null;
};

export function fakeRelays(): FakeRelays {
  const brought = new Set<ParticipantId>();
  const changes = new Set<() => void>();
  const open = new Set<FakeRelayedRoom>();
  const otherKey = new Set<ParticipantId>();
  const relays: FakeRelays = {
    open,
    otherKey,
    state: 'open',
    missing: false,
    load: () =>
      relays.missing
        ? Promise.reject(new TypeError('Failed to fetch'))
        : Promise.resolve({ enter: (_local, options) => new Room(options) }),
    bring: (participant) => {
      brought.add(participant);
      for (const change of changes) change();
    },
    lose: () => {
      brought.clear();
      for (const change of changes) change();
    },
  };
  class Room implements FakeRelayedRoom {
    followed: ReadonlyMap<ParticipantId, unknown> = new Map();
    readonly mixed = new Set<ParticipantId>();
    readonly mix = fakeStream();
    readonly secret: string | null;

    constructor({ onChange, secret }: RelayedRoomOptions) {
      this.secret = secret;
      changes.add(onChange);
      open.add(this);
    }

    get state(): RelayedRoom['state'] {
      return relays.state;
    }

    person(participant: ParticipantId): RelayedPerson | undefined {
      if (!this.followed.has(participant)) return undefined;
      const ready = brought.has(participant);
      return {
        ready,
        otherKey: otherKey.has(participant),
        track: () => null,
        level: () => 0,
        targetMs: () => 60,
        mix: (on: boolean) => void (on ? this.mixed.add(participant) : this.mixed.delete(participant)),
        counts: () => [],
      };
    }

    setMedia(): void {}

    measure(): Promise<null> {
      return Promise.resolve(null);
    }

    follow(people: ReadonlyMap<ParticipantId, unknown>): void {
      this.followed = new Map(people);
      for (const one of this.mixed) if (!people.has(one)) this.mixed.delete(one);
    }

    close(): void {
      open.delete(this);
    }
  }
  return relays;
}
