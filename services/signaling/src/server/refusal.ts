/** Refusals: from a code of the table to an HTTP answer. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { MEANINGS } from '@parley/protocol/code-meanings';
import { CODES, passesByItself, type Code } from '@parley/protocol/codes';
import type { ErrorAnswer } from '@parley/protocol/http';

declare module 'fastify' {
  interface FastifyReply {
    /** Why the request was refused, for the metrics. */
    refusal: Code | null;
  }
}

/** How long to wait, where the code allows a retry and no better time is known. */
const DEFAULT_RETRY_MS = 2000;

export function refuse(
  reply: FastifyReply,
  code: Code,
  reason?: string,
  retryAfterMs = DEFAULT_RETRY_MS,
  slot?: string,
): FastifyReply {
  const entry = CODES[code];
  const answer: ErrorAnswer = {
    code,
    message: reason ?? MEANINGS[code],
    ...(passesByItself(code) ? { retryAfterMs } : {}),
    ...(slot === undefined ? {} : { slot }),
  };
  if (passesByItself(code)) reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  reply.refusal = code;
  return reply.code(entry.http ?? 500).send(answer);
}

/** Where no reply can be made: an upgrade, or bytes that are not a request. Ends the connection. */
export function refuseRaw(stream: Duplex, code: Code, headers: readonly string[] = []): void {
  const { http } = CODES[code];
  const status = http ?? 500;
  const answer: ErrorAnswer = {
    code,
    message: MEANINGS[code],
    ...(passesByItself(code) ? { retryAfterMs: DEFAULT_RETRY_MS } : {}),
  };
  const body = JSON.stringify(answer);
  // The peer may never close its half.
  stream.once('finish', () => stream.destroy());
  stream.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'connection: close',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      ...(passesByItself(code) ? ['retry-after: 2'] : []),
      ...headers,
      '',
      body,
    ].join('\r\n'),
  );
}
