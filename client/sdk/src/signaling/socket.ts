/**
 * One WebSocket to a pod, from opening to its end: the first message, decoding once at the edge, and finding out that the far end is gone.
 * What to do after the end is decided in `connection.ts`.
 */
import type { Resume, Enter, ClientMessage } from '@parley/protocol/client-messages';
import { codeOfClose, knownCode, type Code } from '@parley/protocol/codes';
import { decodeServerMessage } from '@parley/protocol/decode';
import { directedBinary, directedText, receivedBinary, receivedText } from '@parley/protocol/directed';
import type { ParticipantId } from '@parley/protocol/ids';
import type { ServerMessage } from '@parley/protocol/server-messages';
import { grown } from '../net/backoff.ts';
import type { Ports } from '../ports.ts';

export interface RoomSocketHandlers {
  onMessage(message: ServerMessage): void;
  onDirected(from: ParticipantId, payload: string | Uint8Array<ArrayBuffer>): void;
  /** Once, and last. Not called after `close`. */
  onLost(loss: SocketLoss): void;
}

export interface SocketLoss {
  /** `null`: the connection broke without a word. */
  readonly code: Code | null;
  readonly retryAfterMs: number | null;
}

export interface RoomSocket {
  send(message: ClientMessage): void;
  sendDirected(to: ParticipantId, id: string, payload: string | Uint8Array<ArrayBuffer>): void;
  /** Asks at once whether the far end is there, and waits for the answer only shortly: after a change of network. */
  probe(): void;
  close(): void;
}

/** Silence after which the socket is asked whether it lives. */
const QUIET_MS = 5000;
/** Silence after which it is given up: the pod shows us as away by then. */
const DEAD_MS = 10_000;
/**
 * How long a resume may take from opening the socket to the first message. An answer takes half a second; an address behind which nobody is
 * any more, or a pod that is frozen, must not cost much more. Doubled with each failure up to DEAD_MS, for networks on which a handshake takes
 * seconds. A first join has DEAD_MS: it may wait for the room's home.
 */
const RESUME = { firstMs: 3000, capMs: DEAD_MS };
/** The same after a hint that the network changed. */
const PROBE_MS = 3000;
/** A timer this late means that the device slept: what was sent meanwhile is still on its way in. */
const SLEPT_MS = 3000;
const NORMAL_CLOSURE = 1000;

/** `failures`: of sockets just before this one. */
export function openRoomSocket(
  url: string,
  first: Enter | Resume,
  ports: Ports,
  handlers: RoomSocketHandlers,
  failures: number,
): RoomSocket {
  const settleMs = first.type === 'resume' ? grown(RESUME, failures) : DEAD_MS;
  let open = false;
  let settled = false;
  let ended = false;
  let fatal: SocketLoss | null = null;
  let heardAt = ports.clock.now();
  let cancelWatch: () => void = () => undefined;
  let probing = false;

  const end = (loss: SocketLoss | null): void => {
    if (ended) return;
    ended = true;
    cancelWatch();
    if (loss !== null) handlers.onLost(loss);
  };
  const heard = (): void => {
    heardAt = ports.clock.now();
    probing = false;
    if (settled) return;
    settled = true;
    watch();
  };
  const patience = (): number => (!settled ? settleMs : probing ? PROBE_MS : DEAD_MS);
  const watch = (): void => {
    const quiet = ports.clock.now() - heardAt;
    const wait = !settled || probing || quiet >= QUIET_MS ? patience() - quiet : QUIET_MS - quiet;
    const due = ports.clock.now() + wait;
    cancelWatch();
    cancelWatch = ports.clock.after(Math.max(0, wait), () => check(due));
  };
  const check = (due: number): void => {
    const now = ports.clock.now();
    if (now - due > SLEPT_MS) heardAt = settled ? now - QUIET_MS : now;
    const quiet = now - heardAt;
    if (quiet >= patience()) {
      wire.close(NORMAL_CLOSURE);
      end({ code: null, retryAfterMs: null });
      return;
    }
    if (quiet >= QUIET_MS && open && settled) wire.send('{"type":"ping"}');
    watch();
  };

  const wire = ports.openSocket(url, {
    onOpen: () => {
      if (ended) return;
      open = true;
      wire.send(JSON.stringify(first));
    },
    onText: (text) => {
      if (ended) return;
      heard();
      const directed = receivedText(text);
      if (directed !== undefined) {
        handlers.onDirected(directed.from, directed.payload);
        return;
      }
      const decoded = decodeServerMessage(text);
      // A newer pod may say what this version does not know.
      if (!decoded.ok) return;
      const message = decoded.message;
      if (message.type === 'error' && message.fatal) {
        fatal = { code: knownCode(message.code), retryAfterMs: message.retryAfterMs ?? null };
      }
      handlers.onMessage(message);
    },
    onBinary: (bytes) => {
      if (ended) return;
      heard();
      const directed = receivedBinary(bytes);
      if (directed !== undefined) handlers.onDirected(directed.from, directed.payload.slice());
    },
    onClose: (code) => end(fatal ?? { code: codeOfClose(code) ?? null, retryAfterMs: null }),
  });
  watch();

  return {
    send: (message) => {
      if (open && !ended) wire.send(JSON.stringify(message));
    },
    sendDirected: (to, id, payload) => {
      if (!open || ended) return;
      wire.send(
        typeof payload === 'string' ? directedText(to, id, payload) : directedBinary(to, id, payload),
      );
    },
    probe: () => {
      if (ended) return;
      probing = true;
      heardAt = ports.clock.now();
      if (open) wire.send('{"type":"ping"}');
      watch();
    },
    close: () => {
      end(null);
      wire.close(NORMAL_CLOSURE);
    },
  };
}
