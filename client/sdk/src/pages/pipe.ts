/**
 * A connection through the stream relay: a topic that only two visitors know. It drops messages that a slow reader does not take. SPEC rule
 * PAGE-15; STR-110.
 */
import { pipeTopic } from '@parley/protocol/pages';
import type { Ports } from '../ports.ts';
import type { Wire, WireEnd } from './wire.ts';

export interface PipeOptions {
  readonly api: string;
  readonly pipe: string;
  readonly ports: Pick<Ports, 'fetch' | 'openSocket' | 'clock'>;
  /** The token for the relay; `null`: there is none. */
  readonly token: () => Promise<string | null>;
}

/** The relay answers from memory: a network that takes longer cannot carry a page either. */
const ANSWER_MS = 10_000;
/** The interval at which the buffered amount is read: sockets have no event for it. */
const DRAIN_MS = 50;
const NORMAL_CLOSURE = 1000;

/** The returned function closes the pipe. */
export function openPipe(options: PipeOptions, end: WireEnd): () => void {
  const { api, pipe, ports } = options;
  const abort = new AbortController();
  const cancelAnswer = ports.clock.after(ANSWER_MS, () => abort.abort());
  let close = (): void => undefined;
  let ended = false;
  const finish = (): void => {
    ended = true;
    cancelAnswer();
    abort.abort();
    close();
  };
  const connect = (code: string | null): void => {
    if (ended) return;
    const url = new URL(`${api}/streams/${pipeTopic(pipe)}`);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    if (code !== null) url.searchParams.set('code', code);
    close = open(url.href, ports, {
      ...end,
      onLost: () => {
        if (ended) return;
        finish();
        end.onLost();
      },
    });
  };
  requestCode(options, abort.signal).then(connect, () => {
    if (ended) return;
    finish();
    end.onLost();
  });
  return finish;
}

/** A relay without tokens has no such address; some proxies answer that only GET is allowed there. */
const NO_TOKENS_STATUS: ReadonlySet<number> = new Set([404, 405]);

/** `null`: the relay requires no token (STR-100). Rejects if the relay refuses. */
async function requestCode(
  { api, pipe, ports, token }: PipeOptions,
  signal: AbortSignal,
): Promise<string | null> {
  const authorization = await token();
  if (authorization === null) throw new Error('no token');
  const answer = await ports.fetch(`${api}/streams/v1/codes/${pipeTopic(pipe)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${authorization}` },
    signal,
  });
  if (NO_TOKENS_STATUS.has(answer.status)) return null;
  const body: unknown = await answer.json();
  if (answer.status === 201 && typeof body === 'object' && body !== null && 'code' in body) {
    if (typeof body.code === 'string') return body.code;
  }
  throw new Error('refused');
}

function open(url: string, ports: PipeOptions['ports'], end: WireEnd): () => void {
  let ended = false;
  let cancelDrain: (() => void) | null = null;
  const drain = (): void => {
    cancelDrain ??= ports.clock.after(DRAIN_MS, () => {
      cancelDrain = null;
      if (ended) return;
      if (socket.buffered() > 0) drain();
      end.onDrained();
    });
  };
  const close = (): void => {
    if (ended) return;
    ended = true;
    cancelDrain?.();
    socket.close(NORMAL_CLOSURE);
  };
  const wire: Wire = {
    buffered: () => socket.buffered(),
    close,
    send: (data) => {
      if (ended) return;
      socket.send(data);
      if (socket.buffered() > 0) drain();
    },
  };
  const socket = ports.openSocket(url, {
    onOpen: () => {
      if (!ended) end.onOpen(wire);
    },
    onText: (text) => {
      if (!ended) end.onText(text);
    },
    onBinary: (bytes) => {
      if (!ended) end.onBinary(bytes);
    },
    onClose: () => {
      if (ended) return;
      ended = true;
      cancelDrain?.();
      end.onLost();
    },
  });
  return close;
}
