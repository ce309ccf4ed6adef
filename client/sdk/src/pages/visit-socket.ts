/** One WebSocket of a visitor, from opening to its end: decoding once at the edge, and finding out that the far end is gone. */
import { codeOfClose, knownCode, type Code } from '@parley/protocol/codes';
import { decodeLinkMessage, decodeVisitMessage } from '@parley/protocol/decode';
import { directedText, receivedText } from '@parley/protocol/directed';
import type { VisitMessage, VisitorId, VisitorMessage } from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import type { Ports } from '../ports.ts';

export interface VisitSocketHandlers {
  onMessage(message: VisitMessage): void;
  onDirected(from: VisitorId, message: LinkMessage): void;
  /** Once, and last; `null` where it broke without a word. Not called after `close`. */
  onLost(code: Code | null, retryAfterMs: number): void;
}

export interface VisitSocket {
  send(message: VisitorMessage): void;
  sendDirected(to: VisitorId, id: string, message: LinkMessage): void;
  /** Asks at once whether the far end is there: after a change of network. */
  probe(): void;
  close(): void;
}

/** Silence after which the socket is asked whether it lives, and after which it is given up. */
const QUIET_MS = 5000;
const DEAD_MS = 10_000;
/** A timer this late means that the device slept, or that the tab is in the background. */
const SLEPT_MS = 3000;
const NORMAL_CLOSURE = 1000;

export function openVisitSocket(
  url: string,
  ports: Pick<Ports, 'openSocket' | 'clock'>,
  handlers: VisitSocketHandlers,
): VisitSocket {
  const { clock } = ports;
  let open = false;
  let ended = false;
  let fatal: { readonly code: Code; readonly retryAfterMs: number } | null = null;
  let heardAt = clock.now();
  let cancelWatch: () => void = () => undefined;

  const end = (): boolean => {
    if (ended) return false;
    ended = true;
    cancelWatch();
    return true;
  };
  const watch = (): void => {
    const quiet = clock.now() - heardAt;
    const wait = open && quiet < QUIET_MS ? QUIET_MS - quiet : DEAD_MS - quiet;
    const due = clock.now() + wait;
    cancelWatch();
    cancelWatch = clock.after(Math.max(0, wait), () => check(due));
  };
  const check = (due: number): void => {
    const now = clock.now();
    if (now - due > SLEPT_MS) heardAt = now - QUIET_MS;
    const quiet = now - heardAt;
    if (quiet >= DEAD_MS && end()) {
      wire.close(NORMAL_CLOSURE);
      handlers.onLost(null, 0);
      return;
    }
    if (quiet >= QUIET_MS && open) wire.send('{"type":"ping"}');
    watch();
  };
  const hear = (text: string): void => {
    const directed = receivedText(text);
    if (directed !== undefined) {
      const decoded = decodeLinkMessage(directed.payload);
      if (decoded.ok) handlers.onDirected(directed.from, decoded.message);
      return;
    }
    const decoded = decodeVisitMessage(text);
    // A newer pod may say what this version does not know.
    if (!decoded.ok) return;
    const { message } = decoded;
    if (message.type === 'error' && message.fatal) {
      fatal = { code: knownCode(message.code), retryAfterMs: message.retryAfterMs ?? 0 };
    }
    handlers.onMessage(message);
  };

  const wire = ports.openSocket(url, {
    onOpen: () => {
      open = true;
    },
    onText: (text) => {
      if (ended) return;
      heardAt = clock.now();
      hear(text);
    },
    onBinary: () => undefined,
    onClose: (code) => {
      if (!end()) return;
      if (fatal === null) handlers.onLost(codeOfClose(code) ?? null, 0);
      else handlers.onLost(fatal.code, fatal.retryAfterMs);
    },
  });
  watch();

  return {
    send: (message) => {
      if (open && !ended) wire.send(JSON.stringify(message));
    },
    sendDirected: (to, id, message) => {
      if (open && !ended) wire.send(directedText(to, id, JSON.stringify(message)));
    },
    probe: () => {
      if (ended || !open) return;
      heardAt = Math.min(heardAt, clock.now() - QUIET_MS);
      wire.send('{"type":"ping"}');
      watch();
    },
    close: () => {
      end();
      wire.close(NORMAL_CLOSURE);
    },
  };
}
