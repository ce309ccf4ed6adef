/** Effects: what the core wants done. The shell (`server/pod.ts`) carries them out in order. */
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

/** A welcome without the ICE servers, which the shell adds: the core does not know TURN. */
export type BareWelcome = Omit<Welcome, keyof IceOffer>;
/** A message that the core sends on a socket. */
export type CoreMessage = Exclude<ServerMessage, Welcome> | BareWelcome;

export type Effect =
  | { readonly type: 'send'; readonly sockets: readonly SocketId[]; readonly message: CoreMessage }
  | {
      readonly type: 'deliver';
      readonly socket: SocketId;
      readonly from: ParticipantId;
      readonly payload: Uint8Array;
      readonly binary: boolean;
    }
  /** Where `code` is set the shell sends the error first, then closes. `null`: a normal end. */
  | { readonly type: 'close'; readonly socket: SocketId; readonly code: Code | null }
  | { readonly type: 'subscribe'; readonly room: RoomId }
  | { readonly type: 'unsubscribe'; readonly room: RoomId }
  | { readonly type: 'publish-room'; readonly room: RoomId; readonly message: BusMessage }
  | { readonly type: 'publish-pod'; readonly pod: PodId; readonly message: BusMessage }
  | { readonly type: 'heartbeat'; readonly message: BusMessage }
  /** The answer comes back as the input `seat`. */
  | {
      readonly type: 'take-seat';
      readonly seats: RoomSeats;
      readonly participant: ParticipantId;
      /** An owner may take one seat more. */
      readonly owner: boolean;
      readonly socket: SocketId;
    }
  /**
   * An owner admits the participant from the lobby: it gets a new token, and a seat where the room has seats. The answer comes back as the input
   * `seat`.
   */
  | { readonly type: 'let-in'; readonly seats: RoomSeats | undefined; readonly arrival: Join }
  /** This pod, or `holder`, now holds the participant's seat. Where this pod finds none, the answer comes back as the input `seat-refused`. */
  | {
      readonly type: 'claim-seat';
      readonly seats: RoomSeats;
      readonly participant: ParticipantId;
      /** An owner may use one seat more. */
      readonly owner: boolean;
      readonly holder?: SeatHolder;
    }
  | { readonly type: 'free-seat'; readonly seats: RoomSeats; readonly participant: ParticipantId }
  /** The answer comes back as the input `policy`, `room-missing` or `policy-unread`. */
  | { readonly type: 'read-policy'; readonly room: RoomId }
  /** The result of an owner's request; `unknown` where no pod has the participant. */
  | {
      readonly type: 'moderated';
      readonly ref: number;
      readonly outcome: Moderated['outcome'] | 'unknown';
      readonly name: string | undefined;
      readonly visitor: VisitorMarks | undefined;
    }
  /** The answer to the input `list`. Participants in the lobby are included. */
  | {
      readonly type: 'listed';
      readonly ref: number;
      readonly people: readonly Person[];
      /** Participants that left a short time ago. */
      readonly left: readonly ParticipantId[];
      /** No other pod may have participants that this one does not know. */
      readonly isComplete: boolean;
    }
  /** All participants of the room on this pod have been notified that the participant left for good. */
  | {
      readonly type: 'departed';
      readonly participant: ParticipantId;
      /** That of the claim that ended. */
      readonly generation: number;
      readonly reason: Tombstone['reason'] | 'room-deleted';
      /** This pod held the participant. */
      readonly wasHere: boolean;
      /** A pod of this region did. */
      readonly wasInRegion: boolean;
    }
  /** Which participants of a room on this pod are muted, and which are not, for media relays. */
  | {
      readonly type: 'relay-mutes';
      readonly muted: readonly ParticipantId[];
      readonly unmuted: readonly ParticipantId[];
    }
  | { readonly type: 'transfer'; readonly pod: PodId; readonly transfer: DirectedTransfer }
  /** Whether a region is cut off, or was until a moment ago: whoever is missing here may be there. */
  | { readonly type: 'regions-missing'; readonly some: boolean };
