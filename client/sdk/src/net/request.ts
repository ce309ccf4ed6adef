/**
 * One request to `/v1`, repeated while the answer is "not now". No other layer repeats requests. The result is a value with a code of the protocol,
 * never an exception. SPEC rules JOIN-3, JOIN-15, ERR-2.
 */
import { CODES, knownCode, type Code } from '@parley/protocol/codes';
import { decode } from '@parley/protocol/decode';
import { ErrorAnswer } from '@parley/protocol/http';
import type { Static, TSchema } from 'typebox';
import { backoff } from './backoff.ts';
import type { Ports } from '../ports.ts';

export interface Request<Schema extends TSchema | null> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly body?: unknown;
  /** Sent as `Authorization: Bearer`. */
  readonly ownerKey?: string | undefined;
  /** W3C Trace Context. */
  readonly traceparent?: string | null;
  /** The schema of a successful answer; `null` if it has no body. */
  readonly answer: Schema;
  /** How long to retry if the answer is "later" or there is none; 0 asks once. */
  readonly patienceMs: number;
  /** The place that an earlier answer kept for this request. */
  readonly place?: Place | null;
  /** The service keeps a place: the request is repeated at its time. That wait does not count against `patienceMs`. */
  readonly onPlace?: (place: Place) => void;
  /** After this code the request is not repeated. */
  readonly finalCode?: Code | null;
  /** Ends the request early; its result is then meaningless. */
  readonly signal?: AbortSignal;
}

export interface Place {
  readonly slot: string;
  /** Until its time. */
  readonly afterMs: number;
}

/** The answer to a command: its value, or the refusal. */
export type Answer<Value> = { readonly ok: true; readonly value: Value } | Refusal;

/** Why a command was refused. */
export interface Refusal {
  readonly ok: false;
  /** `unreachable`: no answer, or none of the service. */
  readonly reason: Code | 'unreachable';
  /** Whether the same command may succeed later. */
  readonly retry: boolean;
  /** When: in so many ms. `null` if the service does not say. */
  readonly retryAfterMs: number | null;
  /** With `BUSY`: the place that the service keeps. */
  readonly slot?: string;
}

export type Value<Schema extends TSchema | null> = Schema extends TSchema ? Static<Schema> : null;

// Long enough for a slow mobile network, short enough for a user who waits.
const REQUEST_TIMEOUT_MS = 10_000;
/** These answers mean "not now": the request is repeated. After others that may change later (full, locked) the user decides. */
const REPEATED_STATUS: ReadonlySet<number> = new Set([429, 503]);

/** `onRepeat` is called before each repetition. */
export async function request<Schema extends TSchema | null>(
  asked: Request<Schema>,
  ports: Ports,
  onRepeat: () => void = () => undefined,
): Promise<Answer<Value<Schema>>> {
  let deadline = ports.clock.now() + asked.patienceMs;
  let place = asked.place ?? null;
  let isNew = place !== null;
  for (let failures = 0; ; failures += 1) {
    if (place !== null && isNew) {
      asked.onPlace?.(place);
      deadline += place.afterMs;
      failures = 0;
      isNew = false;
      // The service gave each client a time of its own: no jitter.
      await pause(place.afterMs, asked.signal, ports);
      if (asked.signal?.aborted) return UNREACHABLE;
    }
    const outcome = await once(withSlot(asked, place), ports);
    if (outcome.ok) return outcome;
    const { slot, retryAfterMs, reason } = outcome.refusal;
    if (!outcome.again || asked.signal?.aborted || reason === asked.finalCode) return outcome.refusal;
    if (slot !== undefined) {
      place = { slot, afterMs: retryAfterMs ?? 0 };
      isNew = true;
      continue;
    }
    const wait = (retryAfterMs ?? 0) + backoff(failures, ports.random);
    if (ports.clock.now() + wait > deadline) return outcome.refusal;
    await pause(wait, asked.signal, ports);
    if (asked.signal?.aborted) return outcome.refusal;
    onRepeat();
  }
}

function withSlot<Schema extends TSchema | null>(
  asked: Request<Schema>,
  place: Place | null,
): Request<Schema> {
  return place === null ? asked : { ...asked, body: { ...(asked.body as object), slot: place.slot } };
}

type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal; readonly again: boolean };

async function once<Schema extends TSchema | null>(
  { method, url, body, ownerKey, traceparent, answer, signal }: Request<Schema>,
  ports: Ports,
): Promise<Outcome<Value<Schema>>> {
  const abort = new AbortController();
  const giveUp = (): void => abort.abort();
  signal?.addEventListener('abort', giveUp);
  const cancelTimeout = ports.clock.after(REQUEST_TIMEOUT_MS, giveUp);
  try {
    const response = await ports.fetch(url, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ownerKey !== undefined && { authorization: `Bearer ${ownerKey}` }),
        ...(traceparent && { traceparent }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: abort.signal,
    });
    const received: unknown = await response.json().catch(() => undefined);
    return response.ok ? accepted(answer, received) : refused(response, received);
  } catch {
    return unreachable(true);
  } finally {
    cancelTimeout();
    signal?.removeEventListener('abort', giveUp);
  }
}

function accepted<Schema extends TSchema | null>(schema: Schema, received: unknown): Outcome<Value<Schema>> {
  if (schema === null) return { ok: true, value: null as Value<Schema> };
  const decoded = decode(schema, received);
  return decoded.ok ? { ok: true, value: decoded.message as Value<Schema> } : unreachable(false);
}

function refused(response: Response, received: unknown): Outcome<never> {
  const again = REPEATED_STATUS.has(response.status);
  const decoded = decode(ErrorAnswer, received);
  const retryAfterMs = (decoded.ok ? decoded.message.retryAfterMs : undefined) ?? retryAfterHeader(response);
  // An answer without a code comes from a proxy, not from the service.
  if (!decoded.ok) {
    const fault = again || response.status >= 500;
    return { ok: false, again: fault, refusal: { ...UNREACHABLE, retryAfterMs } };
  }
  const code = knownCode(decoded.message.code);
  return {
    ok: false,
    again: again || code === 'INTERNAL',
    refusal: {
      ok: false,
      reason: code,
      retry: CODES[code].retry,
      retryAfterMs,
      ...(decoded.message.slot === undefined ? {} : { slot: decoded.message.slot }),
    },
  };
}

/** RFC 9110 §10.2.3 in seconds. The service does not use the date form, which counts as unknown. */
function retryAfterHeader(response: Response): number | null {
  const header = response.headers.get('retry-after');
  if (header === null || !/^\d{1,6}$/.test(header)) return null;
  return Number(header) * 1000;
}

const UNREACHABLE: Refusal = { ok: false, reason: 'unreachable', retry: true, retryAfterMs: null };

const unreachable = (again: boolean): Outcome<never> => ({ ok: false, again, refusal: UNREACHABLE });

async function pause(ms: number, signal: AbortSignal | undefined, ports: Ports): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = ports.clock.after(ms, done);
    signal?.addEventListener('abort', done);
  });
}
