/** What happens to the core. Every input is handled to its end before the next one. */
import type { BusMessage, ModerationAction, RoomPolicy } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import type { ChatLine, Media } from '@parley/protocol/people';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { SocketId } from './socket-id.ts';
import type { RoomSeats, SeatOutcome } from './ports.ts';

/** Somebody at the door: the ticket or token is verified, the name is checked. */
export interface Arrival {
  readonly socket: SocketId;
  readonly view: RoomView;
  /** What the store said of a named room; `undefined` for an ad-hoc one, and where somebody resumes while the store does not answer. */
  readonly policy: RoomPolicy | undefined;
  readonly participant: ParticipantId;
  /** The room that the ticket or token was given for. */
  readonly incarnation: string | undefined;
  /** Came with the owner key. */
  readonly owner: boolean;
  readonly visitor: VisitorMarks | undefined;
  readonly generation: number;
  readonly name: string;
  readonly media: Media;
  /** The signed resume token that the welcome will carry. */
  readonly token: string;
}

export type Join = { readonly type: 'join' } & Arrival;
export type Resume = {
  readonly type: 'resume';
  readonly tokenGeneration: number;
  /** Since it was signed, in ms: news of a participant that young may still be on its way to this pod. */
  readonly tokenAgeMs: number;
  /** When the participant first entered, Unix ms: it is shown no chat from before. */
  readonly since: number;
  /** Lines the client has, for a room whose pods all died: each one is an own line, or has the proof of a pod. */
  readonly chat: readonly ChatLine[];
} & Arrival;

export type Input =
  | Join
  | Resume
  | { readonly type: 'leave'; readonly socket: SocketId }
  | { readonly type: 'lost'; readonly socket: SocketId }
  | {
      readonly type: 'change';
      readonly socket: SocketId;
      readonly name: string | undefined;
      readonly media: Media | undefined;
    }
  /** Of the participant of this socket, under its name in the roster; signed by the shell. */
  | { readonly type: 'chat'; readonly socket: SocketId; readonly line: ChatLine }
  | {
      readonly type: 'directed';
      readonly socket: SocketId;
      readonly to: ParticipantId;
      readonly id: string;
      readonly payload: Uint8Array;
      readonly binary: boolean;
    }
  | { readonly type: 'room-deleted'; readonly room: RoomId; readonly incarnation: string }
  /** The store has no such room: here it ends too. */
  | { readonly type: 'room-missing'; readonly room: RoomId }
  /** As the store has it now. `told`: this pod changed it, and the others are to know. */
  | { readonly type: 'policy'; readonly policy: RoomPolicy; readonly told: boolean }
  /** The store did not answer. */
  | { readonly type: 'policy-unread'; readonly room: RoomId }
  /** An owner asks who is in the room. The answer is the effect `listed`. */
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
      /** Of which seats it was one; `undefined` where the room has none. */
      readonly seats: RoomSeats | undefined;
      readonly socket: SocketId;
      readonly participant: ParticipantId;
      readonly outcome: SeatOutcome;
      /** The participant had this seat before it was asked for. */
      readonly wasHeld: boolean;
      /** For somebody from the lobby, who is there from now on. */
      readonly token?: string;
    }
  | { readonly type: 'bus'; readonly message: BusMessage }
  | { readonly type: 'transfer'; readonly transfer: DirectedTransfer }
  /** The link to the bus is back: what was said meanwhile is lost. */
  | { readonly type: 'bus-back' };
