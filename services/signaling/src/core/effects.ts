/** What the core wants done. The shell (`server/pod.ts`) carries effects out in order. */
import type { BusMessage, Moderated, Tombstone } from '@parley/protocol/bus';
import type { Code } from '@parley/protocol/codes';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { IceOffer } from '@parley/protocol/http';
import type { ParticipantId, PodId, RoomId } from '@parley/protocol/ids';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { Join } from './input.ts';
import type { RoomSeats, SeatHolder } from './ports.ts';
import type { Person } from './person.ts';
import type { SocketId } from './socket-id.ts';

/** A welcome without the ICE servers, which the shell adds: the core knows no TURN. */
export type BareWelcome = Omit<Welcome, keyof IceOffer>;
/** What the core says on a socket. */
export type CoreMessage = Exclude<ServerMessage, Welcome> | BareWelcome;

export type Effect =
  | { readonly type: 'say'; readonly sockets: readonly SocketId[]; readonly message: CoreMessage }
  | {
      readonly type: 'hand-on';
      readonly socket: SocketId;
      readonly from: ParticipantId;
      readonly payload: Uint8Array;
      readonly binary: boolean;
    }
  /** The shell says the error first where `code` is one, then closes. `null`: a normal end. */
  | { readonly type: 'close'; readonly socket: SocketId; readonly code: Code | null }
  | { readonly type: 'listen'; readonly room: RoomId }
  | { readonly type: 'stop-listening'; readonly room: RoomId }
  | { readonly type: 'tell-room'; readonly room: RoomId; readonly message: BusMessage }
  | { readonly type: 'tell-pod'; readonly pod: PodId; readonly message: BusMessage }
  | { readonly type: 'heartbeat'; readonly message: BusMessage }
  /** The answer comes back as the input `seat`. */
  | {
      readonly type: 'take-seat';
      readonly seats: RoomSeats;
      readonly participant: ParticipantId;
      /** There is one seat more for an owner. */
      readonly owner: boolean;
      readonly socket: SocketId;
    }
  /** Somebody comes in from the lobby: with a fresh token, and a seat where there are seats. The answer comes back as the input `seat`. */
  | { readonly type: 'let-in'; readonly seats: RoomSeats | undefined; readonly arrival: Join }
  /** The participant sits here now, or with that process: no answer. */
  | {
      readonly type: 'claim-seat';
      readonly seats: RoomSeats;
      readonly participant: ParticipantId;
      readonly holder?: SeatHolder;
    }
  | { readonly type: 'free-seat'; readonly seats: RoomSeats; readonly participant: ParticipantId }
  /** The answer comes back as the input `policy` or `room-missing`. */
  | { readonly type: 'read-policy'; readonly room: RoomId }
  /** What became of an owner's request; `unknown` where no pod has the participant. */
  | {
      readonly type: 'moderated';
      readonly ref: number;
      readonly outcome: Moderated['outcome'] | 'unknown';
      readonly name: string | undefined;
      readonly visitor: VisitorMarks | undefined;
    }
  /** The answer to the input `list`; those who wait in the lobby are among them. */
  | { readonly type: 'listed'; readonly ref: number; readonly people: readonly Person[] }
  /** Everybody in the room here has been told that the participant is gone for good. */
  | {
      readonly type: 'departed';
      readonly participant: ParticipantId;
      readonly reason: Tombstone['reason'] | 'room-deleted';
      /** This pod held it. */
      readonly wasHere: boolean;
    }
  | { readonly type: 'transfer'; readonly pod: PodId; readonly transfer: DirectedTransfer };
