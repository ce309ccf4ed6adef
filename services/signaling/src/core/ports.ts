/** What the core and the server need from outside. Adapters implement these; `test/` runs one contract suite over each kind. */
import type { BusMessage } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { PodId, RegionId, RoomId } from '@parley/protocol/ids';

/** Messages between pods: at most once, in order from one pod to another, possibly lost. */
export interface Bus {
  /** From now on messages to this room are heard. Nothing tells when the other side knows it. */
  listen(room: RoomId): void;
  stopListening(room: RoomId): void;
  tellRoom(room: RoomId, message: BusMessage): void;
  tellPod(pod: PodId, message: BusMessage): void;
  beat(message: BusMessage): void;
  transfer(pod: PodId, transfer: DirectedTransfer): void;
  isConnected(): boolean;
  close(): Promise<void>;
}

export interface BusListener {
  onMessage(message: BusMessage): void;
  onTransfer(transfer: DirectedTransfer): void;
  /** The link was lost and is back. */
  onBack(): void;
}

/** A named room as its home region keeps it. */
export interface RoomRecord {
  readonly name: string;
  readonly region: RegionId;
  readonly cap: number;
  readonly locked: boolean;
  /** SHA-256 of the owner key, base64url: the key itself is never kept. */
  readonly ownerKeyHash: string;
  /** Unix time in ms. */
  readonly createdAt: number;
}

export interface StoredRoom {
  readonly record: RoomRecord;
  readonly revision: number;
}

export type StoreFailure = { readonly ok: false; readonly code: 'STORE_UNAVAILABLE' };

/** Named rooms of one region. Only `create` and `remove` decide; both are compare-and-set. */
export interface RoomStore {
  create(
    record: RoomRecord,
  ): Promise<{ readonly ok: true } | { readonly ok: false; readonly code: 'ROOM_EXISTS' } | StoreFailure>;
  read(name: string): Promise<{ readonly ok: true; readonly found: StoredRoom | undefined } | StoreFailure>;
  /** Only the room that was read: `changed` where it is another by now. */
  remove(room: StoredRoom): Promise<{ readonly ok: true; readonly changed: boolean } | StoreFailure>;
  isReachable(): boolean;
}
