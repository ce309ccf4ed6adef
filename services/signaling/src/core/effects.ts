/** What the core wants done. The shell (`server/pod.ts`) carries effects out in order. */
import type { BusMessage } from '@parley/protocol/bus';
import type { Code } from '@parley/protocol/codes';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { ParticipantId, PodId, RoomId } from '@parley/protocol/ids';
import type { ServerMessage } from '@parley/protocol/server-messages';

/** A socket of this pod, numbered by the shell; never used again after its close. */
export type SocketId = number;

export type Effect =
  | { readonly type: 'say'; readonly sockets: readonly SocketId[]; readonly message: ServerMessage }
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
  | { readonly type: 'beat'; readonly message: BusMessage }
  | { readonly type: 'transfer'; readonly pod: PodId; readonly transfer: DirectedTransfer };
