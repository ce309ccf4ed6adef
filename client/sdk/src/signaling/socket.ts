/** The WebSocket of one participant to a pod. `connection.ts` decides what to do after it ends. */
import type { Resume, Enter, ClientMessage } from '@parley/protocol/client-messages';
import { decodeServerMessage } from '@parley/protocol/decode';
import { directedBinary, directedText, receivedBinary } from '@parley/protocol/directed';
import type { ParticipantId } from '@parley/protocol/ids';
import type { ServerMessage } from '@parley/protocol/server-messages';
import { grown } from '../net/backoff.ts';
import {
  CheckedSocket,
  readMessages,
  SILENCE_TIMEOUT_MS,
  type Silence,
  type SocketLoss,
} from '../net/socket.ts';
import type { Ports } from '../ports.ts';

export interface RoomSocketHandlers {
  onMessage(message: ServerMessage): void;
  onDirected(from: ParticipantId, payload: string | Uint8Array<ArrayBuffer>): void;
  /** Called once, after which no handler is called. Not called after `close`. */
  onLost(loss: SocketLoss): void;
}

export interface RoomSocket {
  send(message: ClientMessage): void;
  sendDirected(to: ParticipantId, id: string, payload: string | Uint8Array<ArrayBuffer>): void;
  /** Sends a ping at once and waits only a short time for an answer: after a change of network. */
  probe(): void;
  close(): void;
}

/**
 * How long a resume may take from opening the socket to the first message. An answer usually takes half a second; an address without a pod,
 * or a frozen pod, must not cost much more. The timeout doubles with each failure, for networks on which a handshake takes seconds. A first
 * join has the whole SILENCE_TIMEOUT_MS, because it may wait for the home pod of the room.
 */
const RESUME_TIMEOUT = { firstMs: 3000, capMs: SILENCE_TIMEOUT_MS };
const PROBE_TIMEOUT_MS = 3000;

export interface RoomSocketOptions {
  /** Sockets that failed in a row before this one. */
  readonly failures: number;
  /** Read whenever it is checked; `undefined` for the usual times. */
  readonly silence: () => Silence | undefined;
  /** In ms, since the participant began to join; read when the socket is open: for `enter`. */
  readonly elapsed: () => number;
}

export function openRoomSocket(
  url: string,
  first: Enter | Resume,
  ports: Ports,
  handlers: RoomSocketHandlers,
  { failures, silence, elapsed }: RoomSocketOptions,
): RoomSocket {
  const socket: CheckedSocket = new CheckedSocket(
    url,
    ports,
    {
      firstMessageTimeoutMs: first.type === 'resume' ? grown(RESUME_TIMEOUT, failures) : SILENCE_TIMEOUT_MS,
      probeTimeoutMs: PROBE_TIMEOUT_MS,
      firstMessage: () => JSON.stringify(first.type === 'enter' ? { ...first, elapsedMs: elapsed() } : first),
      silence,
    },
    {
      onText: readMessages(decodeServerMessage, {
        onMessage: (message) => handlers.onMessage(message),
        onDirected: (from, payload) => handlers.onDirected(from, payload),
        fatal: (loss) => socket.fatal(loss),
      }),
      onBinary: (bytes) => {
        const directed = receivedBinary(bytes);
        if (directed !== undefined) handlers.onDirected(directed.from, directed.payload.slice());
      },
      onLost: (loss) => handlers.onLost(loss),
    },
  );
  return {
    send: (message) => socket.send(JSON.stringify(message)),
    sendDirected: (to, id, payload) =>
      socket.send(
        typeof payload === 'string' ? directedText(to, id, payload) : directedBinary(to, id, payload),
      ),
    probe: () => socket.probe(),
    close: () => socket.close(),
  };
}
