/** What the core and the server need from outside. Adapters implement these; `test/` runs one contract suite over each kind. */
import type { BusMessage } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { ParticipantId, PodId, RegionId, RoomId } from '@parley/protocol/ids';
import type { MediaRelay } from '@parley/protocol/media';
import type { PageBusMessage } from '@parley/protocol/pages-bus';
import type { PageAddress } from '@parley/protocol/pages';
import type { TurnNode } from '@parley/protocol/turn';

/** Messages between pods: at most once, in order from one pod to another, possibly lost. */
export interface PodBus<Topic, Message> {
  /** From now on messages on this topic are received. Nothing tells when the other side knows it. */
  listen(topic: Topic): void;
  stopListening(topic: Topic): void;
  publish(topic: Topic, message: Message): void;
  tellPod(pod: PodId, message: Message): void;
  /** To every pod, this one too. */
  heartbeat(message: Message): void;
  transfer(pod: PodId, transfer: DirectedTransfer): void;
}

export interface PodListener<Message> {
  onMessage(message: Message): void;
  onTransfer(transfer: DirectedTransfer): void;
  /** The link was lost and is back. */
  onBack(): void;
}

export interface Bus extends PodBus<RoomId, BusMessage> {
  isConnected(): boolean;
  close(): Promise<void>;
}
export type BusListener = PodListener<BusMessage>;

export type PageBus = PodBus<PageAddress, PageBusMessage>;
export type PageListener = PodListener<PageBusMessage>;

/** What pods and media relays tell each other. */
export interface MediaBus {
  /**
   * Ends the sessions of the participant on every relay that a token from before now opened; until then (Unix seconds) such a token
   * opens no other. Lost while the bus is away.
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
  /** Whoever was kicked while its resume token may still be good; `until` in Unix ms. */
  readonly kicked: readonly { readonly participant: ParticipantId; readonly until: number }[];
  /** SHA-256 of the owner key, base64url: the key itself is never kept. */
  readonly ownerKeyHash: string;
  /** Unix time in ms. */
  readonly createdAt: number;
}

/** Keyed hashes of what a ban recognises, and what the owner is shown of it. */
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
  /** Of this revision, Unix ms, by the store's clock. */
  readonly writtenAt: number;
}

export type StoreFailure = { readonly ok: false; readonly code: 'STORE_UNAVAILABLE' };

/** How long a store keeps a value after its last write. SPEC rule ROOM-10. */
export interface StoreLifetime {
  readonly lifetimeMs: number;
}

/**
 * Named rooms of one region. Only `create`, `update` and `remove` decide; all are compare-and-set. A room that was not written for the
 * store's lifetime is not found any more.
 */
export interface RoomStore {
  /** `REGION_FULL` where the region keeps as many rooms as it may. SPEC rule ROOM-12. */
  create(
    record: RoomRecord,
  ): Promise<
    | { readonly ok: true }
    | { readonly ok: false; readonly code: 'ROOM_EXISTS' | 'REGION_FULL' }
    | StoreFailure
  >;
  read(name: string): Promise<{ readonly ok: true; readonly found: StoredRoom | undefined } | StoreFailure>;
  /** Only the room that was read: `undefined` where it is another by now. */
  update(
    room: StoredRoom,
    record: RoomRecord,
  ): Promise<{ readonly ok: true; readonly updated: StoredRoom | undefined } | StoreFailure>;
  /** Only the room that was read: `changed` where it is another by now. */
  remove(room: StoredRoom): Promise<{ readonly ok: true; readonly changed: boolean } | StoreFailure>;
  isReachable(): boolean;
}

/** Which seats are meant: those of a room that was deleted and made again are others. */
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

/** Who holds a seat: a process of a pod, on behalf of a participant. */
export interface Seat extends SeatHolder {
  readonly participant: ParticipantId;
}

export type SeatOutcome = 'taken' | 'full' | 'unavailable';

/** All seats of one room: read and written as a whole, so that one write decides for everyone who came meanwhile. */
export interface SeatPlan {
  readonly incarnation: string;
  readonly seats: readonly Seat[];
}

/**
 * Seats of the rooms with a cap, of one region. Only `write` decides; it is compare-and-set. Seats that were not written for the store's
 * lifetime are not found any more.
 */
export interface SeatStore {
  /** `revision` 0 where nobody has sat there yet. */
  read(
    name: string,
  ): Promise<
    { readonly ok: true; readonly plan: SeatPlan | undefined; readonly revision: number } | StoreFailure
  >;
  /** Answers the new revision, or `undefined` where `revision` was not the last. */
  write(
    name: string,
    plan: SeatPlan,
    revision: number,
  ): Promise<{ readonly ok: true; readonly revision: number | undefined } | StoreFailure>;
  /** The room is gone. Only what was read: the seats of a room made again meanwhile stay. */
  forget(name: string, revision: number): Promise<{ readonly ok: true } | StoreFailure>;
}
