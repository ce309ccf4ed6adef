/** A fake of the room through relays that a test controls. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Count } from '../../src/measure/figures.ts';
import type {
  KeySignal,
  RelayedMedia,
  RelayedPerson,
  RelayedRoom,
  RelayedRoomOptions,
  SecurityCode,
} from '../../src/ports.ts';
import { fakeStream } from './media.ts';

export interface FakeRelays {
  readonly load: () => Promise<RelayedMedia>;
  /** The part of the application for relays does not load. */
  missing: boolean;
  /** The rooms that are open. */
  readonly open: Set<FakeRelayedRoom>;
  /** Participants whose media is encrypted with another key than ours. */
  readonly otherKey: Set<ParticipantId>;
  /** Whose camera is not fetched, because there is too much to receive. */
  readonly paused: Set<ParticipantId>;
  /** Media of this participant arrives, in all rooms that subscribe to it. */
  bring(participant: ParticipantId): void;
  /** The connection to the relay is lost: no media of any participant is here any more. */
  lose(): void;
  state: RelayedRoom['state'];
}

/** The counters of a voice that arrived. */
const VOICE: Count = {
  source: 'microphone',
  codec: 'opus',
  width: null,
  height: null,
  bytes: 8000,
  frames: null,
  packets: 99,
  lost: 1,
  waitedMs: 4000,
  waits: 100,
  freezes: null,
};

type FakeRelayedRoom = RelayedRoom & {
  readonly followed: ReadonlyMap<ParticipantId, unknown>;
  /** The participants in the mix. */
  readonly mixed: ReadonlyMap<ParticipantId, number>;
  /** Of whom no sound is subscribed. */
  readonly silenced: ReadonlySet<ParticipantId>;
  readonly secret: string | null;
  /** Who else is in the room. */
  readonly members: ReadonlySet<ParticipantId>;
  /** The keys that came, and those that others get. */
  readonly keysFrom: ParticipantId[];
  readonly sendKey: RelayedRoomOptions['sendKey'];
};

export function fakeRelays(): FakeRelays {
  const brought = new Set<ParticipantId>();
  const changes = new Set<() => void>();
  const open = new Set<FakeRelayedRoom>();
  const otherKey = new Set<ParticipantId>();
  const paused = new Set<ParticipantId>();
  const relays: FakeRelays = {
    open,
    otherKey,
    paused,
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
    readonly mixed = new Map<ParticipantId, number>();
    readonly silenced = new Set<ParticipantId>();
    readonly mix = fakeStream();
    readonly secret: string | null;
    members: ReadonlySet<ParticipantId> = new Set();
    readonly keysFrom: ParticipantId[] = [];
    readonly sendKey: RelayedRoomOptions['sendKey'];

    constructor({ onChange, secret, sendKey }: RelayedRoomOptions) {
      this.secret = secret;
      this.sendKey = sendKey;
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
        videoPaused: paused.has(participant),
        track: () => null,
        level: () => 0,
        targetMs: () => 60,
        silence: (on: boolean) =>
          void (on ? this.silenced.add(participant) : this.silenced.delete(participant)),
        mix: (volume: number) => {
          if (volume > 0) this.mixed.set(participant, volume);
          else this.mixed.delete(participant);
        },
        counts: () => (brought.has(participant) ? [VOICE] : []),
      };
    }

    setMedia(): void {}

    measure(): Promise<null> {
      return Promise.resolve(null);
    }

    receiveKey(from: ParticipantId, _signal: KeySignal): void {
      this.keysFrom.push(from);
    }

    securityCode(): Promise<SecurityCode> | undefined {
      return this.secret === null ? undefined : Promise.resolve({ code: '12345', participants: [] });
    }

    follow(people: ReadonlyMap<ParticipantId, unknown>, members: ReadonlySet<ParticipantId>): void {
      this.followed = new Map(people);
      this.members = members;
      for (const one of this.mixed.keys()) if (!people.has(one)) this.mixed.delete(one);
    }

    close(): void {
      open.delete(this);
    }
  }
  return relays;
}
