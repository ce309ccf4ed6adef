/** The interfaces of the core and the server to external systems. Adapters implement them; `test/` runs one contract suite over each kind. */
import type { BusMessage } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { HomeAnswer, HomeRequest, HomeTerm, HomeTerms } from '@parley/protocol/home';
import type { ParticipantId, PodId, RegionId, RoomId } from '@parley/protocol/ids';
import type { MediaRelay, RelayMutes } from '@parley/protocol/media';
import type { Mutes } from '@parley/protocol/people';
import type { PageBusMessage } from '@parley/protocol/pages-bus';
import type { PageAddress } from '@parley/protocol/pages';
import type { TurnNode } from '@parley/protocol/turn';

/** Messages between pods: delivered at most once, in order from one pod to another, possibly lost. */
export interface PodBus<Topic, Message> {
  /** Subscribes to the topic. There is no confirmation that other servers know the subscription. */
  subscribe(topic: Topic): void;
  unsubscribe(topic: Topic): void;
  publish(topic: Topic, message: Message): void;
  publishToPod(pod: PodId, message: Message): void;
  /** To every pod, including this one. */
  heartbeat(message: Message): void;
  transfer(pod: PodId, transfer: DirectedTransfer): void;
}

export interface PodListener<Message> {
  onMessage(message: Message): void;
  onTransfer(transfer: DirectedTransfer): void;
  /** The connection was lost and is restored. */
  onBack(): void;
}

export interface Bus extends PodBus<RoomId, BusMessage> {
  isConnected(): boolean;
  close(): Promise<void>;
}
export type BusListener = PodListener<BusMessage>;

export type PageBus = PodBus<PageAddress, PageBusMessage>;
export type PageListener = PodListener<PageBusMessage>;

/** Messages between pods and media relays. */
export interface MediaBus {
  /**
   * Ends the participant's sessions on every relay that were opened with a token of this generation or a lower one. Until `untilS` (Unix seconds) such
   * a token opens no other session. Lost while the bus is disconnected.
   */
  revoke(revocation: Revocation): void;
  /** Says to every relay whose sounds it withholds. Lost while the bus is disconnected. */
  mute(mutes: RelayMutes): void;
}
export interface Revocation {
  readonly participant: ParticipantId;
  readonly generation: number;
  readonly untilS: number;
}

export interface MediaListener {
  onRelay(relay: MediaRelay): void;
  /** A relay of another region. */
  onFarRelay(region: RegionId, relay: MediaRelay): void;
}

export interface TurnListener {
  onNode(node: TurnNode): void;
}

/** A named room as its home region keeps it. */
export interface RoomRecord {
  readonly name: string;
  readonly region: RegionId;
  readonly cap: number;
  /** The cap is kept exactly, by seats. */
  readonly hardCap: boolean;
  readonly locked: boolean;
  readonly lobby: boolean;
  readonly bans: readonly BanRecord[];
  readonly kicked: readonly KickRecord[];
  readonly mutes: Mutes;
  /** SPEC rule MOD-16. */
  readonly coOwners: readonly ParticipantId[];
  /** How often an owner ended the call for all. SPEC rule MOD-13. */
  readonly calls: number;
  /** Of a room that was made for a call: how long it is kept without a use. SPEC rule ROOM-13. */
  readonly idleMs?: number;
  /** SHA-256 of the owner key, base64url. The key itself is not stored. */
  readonly ownerKeyHash: string;
  /** Unix time in ms. */
  readonly createdAt: number;
}

/** A participant that was kicked, and the mark of its device. */
export interface KickRecord {
  readonly participant: ParticipantId;
  /** Unix time in ms. */
  readonly until: number;
  readonly device?: string;
}

/** Keyed hashes by which a ban recognises a visitor, and what the owner is shown of it. */
export interface BanRecord {
  readonly id: string;
  readonly name: string;
  /** Unix time in ms. */
  readonly at: number;
  readonly device: string | undefined;
  readonly network: string | undefined;
}

export interface StoredRoom {
  readonly record: RoomRecord;
  readonly revision: number;
  /** The time of this revision, Unix ms, by the store's clock. */
  readonly writtenAt: number;
}

export type StoreFailure = { readonly ok: false; readonly code: 'STORE_UNAVAILABLE' };

/** How long a store keeps a value after its last write. SPEC rule ROOM-10. */
export interface StoreLifetime {
  readonly lifetimeMs: number;
}

/**
 * Named rooms of one region. Only `create`, `update` and `remove` decide; all are compare-and-set. A room that was not written for the store's
 * lifetime, or that of its own record, is not found any more.
 */
export interface RoomStore {
  /** `REGION_FULL` where the region has as many rooms as it may. SPEC rule ROOM-12. */
  create(
    record: RoomRecord,
  ): Promise<
    | { readonly ok: true }
    | { readonly ok: false; readonly code: 'ROOM_EXISTS' | 'REGION_FULL' | 'ROOM_HOME_UNREACHABLE' }
    | StoreFailure
  >;
  read(name: string): Promise<{ readonly ok: true; readonly found: StoredRoom | undefined } | StoreFailure>;
  /** Applies only to the revision that was read; `undefined` where it has changed. */
  update(
    room: StoredRoom,
    record: RoomRecord,
  ): Promise<{ readonly ok: true; readonly updated: StoredRoom | undefined } | StoreFailure>;
  /** Applies only to the revision that was read; `changed` where it has changed. */
  remove(room: StoredRoom): Promise<{ readonly ok: true; readonly changed: boolean } | StoreFailure>;
  /** The revisions of all rooms, by name. */
  list(): Promise<Revisions | StoreFailure>;
  isReachable(): boolean;
}

export interface Revisions {
  readonly ok: true;
  readonly revisions: ReadonlyMap<string, number>;
}

/** A version of a room as regions exchange it. */
export interface FollowedRoom {
  /** Versions are compared by it, in whichever region they were written. */
  readonly revision: number;
  /** `undefined` where the room was removed. */
  readonly record: RoomRecord | undefined;
  /** This region wrote the version, and has not handed it over: the newest revision of another region that it includes. */
  readonly includes?: number | undefined;
}

export interface KeptRoom extends FollowedRoom {
  /** The revision of the store that has it. */
  readonly at: number;
  /** Unix ms, by the store's clock. */
  readonly writtenAt: number;
}

type Stored<Result> = Promise<({ readonly ok: true } & Result) | StoreFailure>;

/** The promotions that a region knows. Both return the one that is stored afterwards. */
export interface TermStore {
  read(): Stored<{ readonly terms: readonly HomeTerm[] }>;
  /** Keeps the higher of this term and the one that is stored. */
  keep(term: HomeTerm): Stored<{ readonly kept: HomeTerm }>;
  /** Keeps this term where that of the stored one is lower. */
  raise(term: HomeTerm): Stored<{ readonly kept: HomeTerm }>;
}

/** `versions`: of the rooms that exist. `included`: for those that this region wrote, what they include. `written`: of those alone, also where they were removed. */
export type ListOf = 'versions' | 'included' | 'written';

/** The records that a region has of the rooms of others, and under a term also of its own. */
export interface FollowedStore {
  /** Keeps the newer of this version and the one that is stored, and one that this region wrote; returns the revision that is stored. */
  keep(home: RegionId, name: string, room: FollowedRoom): Stored<{ readonly revision: number }>;
  read(home: RegionId, name: string): Stored<{ readonly found: KeptRoom | undefined }>;
  /** Replaces the version that was read, `at` 0 where there was none. Returns the new `at`; `undefined` where it has changed. */
  replace(
    home: RegionId,
    name: string,
    room: FollowedRoom,
    at: number,
  ): Stored<{ readonly at: number | undefined }>;
  /** Revisions, by name. */
  list(home: RegionId, which: ListOf): Promise<Revisions | StoreFailure>;
  /** Whether the home may have this room too. SPEC rules ROOM-12 and ROOM-13. */
  hasPlace(home: RegionId, room: RoomRecord): Stored<{ readonly hasPlace: boolean }>;
}

/** The seats of one incarnation of a room. */
export interface RoomSeats {
  readonly room: RoomId;
  /** Key in the store. */
  readonly name: string;
  readonly incarnation: string;
  readonly cap: number;
}

/** A process of a pod. */
export interface SeatHolder {
  readonly pod: PodId;
  readonly boot: number;
}

/** The holder of a seat: a process of a pod, on behalf of a participant. */
export interface Seat extends SeatHolder {
  readonly participant: ParticipantId;
}

/** `unavailable`: the store does not answer; `unreachable`: the home region does not; `gone`: there is no such room any more. */
export type SeatOutcome = 'taken' | 'full' | 'unavailable' | 'unreachable' | 'gone';

/** All seats of one room: read and written as a whole, so that one write decides for all participants that arrived in the meantime. */
export interface SeatPlan {
  readonly incarnation: string;
  readonly seats: readonly Seat[];
  /** The participants that left, and when their seats were freed (Unix ms): not given to others at once. SPEC rule HOME-4. */
  readonly resting?: readonly (readonly [participant: ParticipantId, freedAt: number])[];
}

/**
 * Seats of the rooms with a cap, of one region. Only `write` decides; it is compare-and-set. Seats that were not written for the store's
 * lifetime are not found any more.
 */
export interface SeatStore {
  /** `revision` is 0 where the room has no seats yet. */
  read(
    name: string,
  ): Promise<
    { readonly ok: true; readonly plan: SeatPlan | undefined; readonly revision: number } | StoreFailure
  >;
  /** Returns the new revision, or `undefined` where `revision` was not the latest. */
  write(
    name: string,
    plan: SeatPlan,
    revision: number,
  ): Promise<{ readonly ok: true; readonly revision: number | undefined } | StoreFailure>;
  /** The room was deleted. Removes only the revision that was read: the seats of a room created again in the meantime stay. */
  forget(name: string, revision: number): Promise<{ readonly ok: true } | StoreFailure>;
}

/** Requests between regions about named rooms. */
export interface HomeBus {
  /** `undefined` where no answer came within `timeoutMs`, or the answer was not understood. Never rejects. */
  ask(region: RegionId, request: HomeRequest, timeoutMs: number): Promise<HomeAnswer | undefined>;
  /** Called once: answers the requests to this region, together with its other pods. */
  serve(answer: (request: HomeRequest) => Promise<HomeAnswer>): void;
  /** To the pods of all regions, this one included. */
  announce(terms: HomeTerms): void;
  onTerms(listener: (terms: HomeTerms) => void): void;
}
