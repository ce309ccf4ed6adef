/** The WebSocket of one visitor to a pod. `visit.ts` decides what to do after it ends. */
import { decodeLinkMessage, decodeVisitMessage } from '@parley/protocol/decode';
import { directedText } from '@parley/protocol/directed';
import type { VisitMessage, VisitorId, VisitorMessage } from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import { CheckedSocket, readMessages, SILENCE_TIMEOUT_MS, type SocketLoss } from '../net/socket.ts';
import type { Ports } from '../ports.ts';

export interface VisitSocketHandlers {
  onMessage(message: VisitMessage): void;
  onDirected(from: VisitorId, message: LinkMessage): void;
  /** Called once, after which no handler is called. Not called after `close`. */
  onLost(loss: SocketLoss): void;
}

export interface VisitSocket {
  send(message: VisitorMessage): void;
  sendDirected(to: VisitorId, id: string, message: LinkMessage): void;
  /** Sends a ping at once and waits only a short time for an answer: after a change of network. */
  probe(): void;
  close(): void;
}

/** Longer than in a call: a page tolerates a longer interruption. */
const PROBE_TIMEOUT_MS = 5000;

export function openVisitSocket(
  url: string,
  ports: Pick<Ports, 'openSocket' | 'clock'>,
  handlers: VisitSocketHandlers,
): VisitSocket {
  const socket: CheckedSocket = new CheckedSocket(
    url,
    ports,
    { firstMessageTimeoutMs: SILENCE_TIMEOUT_MS, probeTimeoutMs: PROBE_TIMEOUT_MS },
    {
      onText: readMessages(decodeVisitMessage, {
        onMessage: (message) => handlers.onMessage(message),
        onDirected: (from, payload) => {
          const decoded = decodeLinkMessage(payload);
          if (decoded.ok) handlers.onDirected(from, decoded.message);
        },
        fatal: (loss) => socket.fatal(loss),
      }),
      onLost: (loss) => handlers.onLost(loss),
    },
  );
  return {
    send: (message) => socket.send(JSON.stringify(message)),
    sendDirected: (to, id, message) => socket.send(directedText(to, id, JSON.stringify(message))),
    probe: () => socket.probe(),
    close: () => socket.close(),
  };
}
