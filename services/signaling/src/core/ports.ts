/** The interfaces of the core and the server to external systems. Adapters implement them; `test/` runs one contract suite over each kind. */
import type { BusMessage } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { ParticipantId, PodId, RegionId, RoomId } from '@parley/protocol/ids';
import type { MediaRelay } from '@parley/protocol/media';
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
   * Ends the participant's sessions on every relay that were opened with a token from before now. Until `untilS` (Unix seconds) such a token opens no
   * other session. Lost while the bus is disconnected.
   */
  revoke(participant: ParticipantId, untilS: number): void;
}

export interface MediaListener {
  onRelay(relay: MediaRelay): void;
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
  /** Participants that were kicked, while their resume tokens may still be valid; `until` in Unix ms. */
  readonly kicked: readonly { readonly participant: ParticipantId; readonly until: number }[];
  /** SHA-256 of the owner key, base64url. The key itself is not stored. */
  readonly ownerKeyHash: string;
  /** Unix time in ms. */
  readonly createdAt: number;
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
 * lifetime is not found any more.
 */
export interface RoomStore {
  /** `REGION_FULL` where the region has as many rooms as it may. SPEC rule ROOM-12. */
  create(
    record: RoomRecord,
  ): Promise<
    | { readonly ok: true }
    | { readonly ok: false; readonly code: 'ROOM_EXISTS' | 'REGION_FULL' }
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
  isReachable(): boolean;
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

export type SeatOutcome = 'taken' | 'full' | 'unavailable';

/** All seats of one room: read and written as a whole, so that one write decides for all participants that arrived in the meantime. */
export interface SeatPlan {
  readonly incarnation: string;
  readonly seats: readonly Seat[];
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
