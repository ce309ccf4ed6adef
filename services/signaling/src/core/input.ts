/** Inputs: what happens to the core. Each input is handled completely before the next one. */
import type { BusMessage, ModerationAction, RoomPolicy } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import type { ChatLine, Media } from '@parley/protocol/people';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { SocketId } from './socket-id.ts';
import type { RoomSeats, SeatOutcome } from './ports.ts';

/** A participant that asks to enter: its ticket or token is verified and its name is checked. */
export interface Arrival {
  readonly socket: SocketId;
  readonly view: RoomView;
  /** The stored policy of a named room; `undefined` for an ad-hoc room, and for a resume while the store does not answer. */
  readonly policy: RoomPolicy | undefined;
  readonly participant: ParticipantId;
  /** The incarnation of the room that the ticket or token was issued for. */
  readonly incarnation: string | undefined;
  /** The request carried the owner key. */
  readonly owner: boolean;
  readonly visitor: VisitorMarks | undefined;
  readonly generation: number;
  readonly name: string;
  readonly media: Media;
  /** The signed resume token for the welcome. */
  readonly token: string;
}

export type Join = { readonly type: 'join' } & Arrival;
export type Resume = {
  readonly type: 'resume';
  readonly tokenGeneration: number;
  /** Time since the token was signed, in ms. Messages about such a recent change may still be on their way to this pod. */
  readonly tokenAgeMs: number;
  /** When the participant first entered, Unix ms. It receives no chat from before. */
  readonly since: number;
  /** Lines that the client has, for a room whose pods all died. Each is the participant's own or carries the proof of a pod. */
  readonly chat: readonly ChatLine[];
} & Arrival;

export type Input =
  | Join
  | Resume
  | { readonly type: 'leave'; readonly socket: SocketId }
  /** `isUnloaded`: the page of the client was closed or is being loaded again. */
  | { readonly type: 'lost'; readonly socket: SocketId; readonly isUnloaded?: boolean }
  | {
      readonly type: 'change';
      readonly socket: SocketId;
      readonly name: string | undefined;
      readonly media: Media | undefined;
    }
  /** From the participant of this socket, under its name in the roster. The shell signed the line. */
  | { readonly type: 'chat'; readonly socket: SocketId; readonly line: ChatLine }
  | { readonly type: 'reaction'; readonly socket: SocketId; readonly emoji: string }
  | {
      readonly type: 'directed';
      readonly socket: SocketId;
      readonly to: ParticipantId;
      readonly id: string;
      readonly payload: Uint8Array;
      readonly binary: boolean;
    }
  | { readonly type: 'room-deleted'; readonly room: RoomId; readonly incarnation: string }
  /** The store has no such room, so it ends here too. */
  | { readonly type: 'room-missing'; readonly room: RoomId }
  /** The policy in the store. `notify`: this pod changed it, so the others must be notified. */
  | { readonly type: 'policy'; readonly policy: RoomPolicy; readonly notify: boolean }
  /** Another region answers for a home: policies are read again, and seats claimed. */
  | { readonly type: 'homes-changed' }
  /** The home region did not answer. */
  | { readonly type: 'policy-unread'; readonly room: RoomId }
  /** An owner requests the list of participants. The answer is the effect `listed`. */
  | {
      readonly type: 'list';
      readonly ref: number;
      readonly view: RoomView;
      readonly policy: RoomPolicy | undefined;
    }
  | {
      readonly type: 'moderate';
      readonly ref: number;
      readonly room: RoomId;
      readonly action: ModerationAction;
      readonly participant: ParticipantId;
    }
  | {
      readonly type: 'seat';
      readonly room: RoomId;
      /** The seats of which one was requested; `undefined` where the room has none. */
      readonly seats: RoomSeats | undefined;
      readonly socket: SocketId;
      readonly participant: ParticipantId;
      readonly outcome: SeatOutcome;
      /** The participant had the seat before the request. */
      readonly wasHeld: boolean;
      /** The new token of a participant that enters from the lobby. */
      readonly token?: string;
    }
  /** A participant that resumed has no seat, and there is none left. */
  | { readonly type: 'seat-refused'; readonly room: RoomId; readonly participant: ParticipantId }
  | { readonly type: 'bus'; readonly message: BusMessage }
  | { readonly type: 'transfer'; readonly transfer: DirectedTransfer }
  /** The connection to the bus is restored; messages published in the meantime are lost. */
  | { readonly type: 'bus-back' };
