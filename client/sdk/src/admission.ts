/** `POST /v1/rooms/{room}/join`: from a room id to a ticket. The only layer that retries this request. SPEC rules JOIN-1 to JOIN-3. */
import { CODES, knownCode } from '@parley/protocol/codes';
import { decode } from '@parley/protocol/decode';
import { ErrorAnswer, JoinAnswer } from '@parley/protocol/http';
import { backoff } from './backoff.ts';
import type { EndReason } from './call.ts';
import type { Ports } from './ports.ts';

export interface AdmissionRequest {
  readonly api: string;
  readonly room: string;
  readonly name: string;
  /** How long to go on when the answer is "later" or there is none. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export type Admission =
  | { readonly ok: true; readonly answer: JoinAnswer }
  | Refusal
  /** The caller aborted. */
  | { readonly ok: false; readonly reason: 'aborted' };

export interface Refusal {
  readonly ok: false;
  readonly reason: Exclude<EndReason, 'left'>;
  readonly retry: boolean;
  readonly retryAfterMs: number | null;
}

// Long enough for a slow mobile network, short enough that somebody still waits.
const REQUEST_TIMEOUT_MS = 10_000;
/** These answers mean "not now": the request is repeated. Others that may change later (full, locked) are for the person to decide. */
const REPEATED_STATUS: ReadonlySet<number> = new Set([429, 503]);

export async function admit(request: AdmissionRequest, ports: Ports): Promise<Admission> {
  const deadline = ports.clock.now() + request.patienceMs;
  for (let failures = 0; ; failures += 1) {
    const outcome = await ask(request, ports);
    if (request.signal.aborted) return { ok: false, reason: 'aborted' };
    if (outcome.ok || !outcome.again) return outcome.ok ? outcome : outcome.refusal;
    const wait = (outcome.refusal.retryAfterMs ?? 0) + backoff(failures, ports.random);
    if (ports.clock.now() + wait > deadline) return outcome.refusal;
    await pause(wait, request.signal, ports);
    if (request.signal.aborted) return { ok: false, reason: 'aborted' };
  }
}

type Outcome =
  | { readonly ok: true; readonly answer: JoinAnswer }
  | { readonly ok: false; readonly refusal: Refusal; readonly again: boolean };

async function ask(request: AdmissionRequest, ports: Ports): Promise<Outcome> {
  const abort = new AbortController();
  const giveUp = (): void => abort.abort();
  request.signal.addEventListener('abort', giveUp);
  const cancelTimeout = ports.clock.after(REQUEST_TIMEOUT_MS, giveUp);
  try {
    const response = await ports.fetch(`${request.api}/v1/rooms/${encodeURIComponent(request.room)}/join`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: request.name }),
      signal: abort.signal,
    });
    const body: unknown = await response.json().catch(() => undefined);
    return response.ok ? admitted(body) : refused(response, body);
  } catch {
    return unreachable(true);
  } finally {
    cancelTimeout();
    request.signal.removeEventListener('abort', giveUp);
  }
}

function admitted(body: unknown): Outcome {
  const decoded = decode(JoinAnswer, body);
  return decoded.ok ? { ok: true, answer: decoded.message } : unreachable(false);
}

function refused(response: Response, body: unknown): Outcome {
  const again = REPEATED_STATUS.has(response.status);
  const decoded = decode(ErrorAnswer, body);
  const retryAfterMs = (decoded.ok ? decoded.message.retryAfterMs : undefined) ?? retryAfterHeader(response);
  // An answer without a code comes from a proxy on the way, not from the service.
  if (!decoded.ok) {
    const fault = again || response.status >= 500;
    return { ok: false, again: fault, refusal: { ...UNREACHABLE, retryAfterMs } };
  }
  const code = knownCode(decoded.message.code);
  return {
    ok: false,
    again: again || code === 'INTERNAL',
    refusal: { ok: false, reason: code, retry: CODES[code].retry, retryAfterMs },
  };
}

/** RFC 9110 §10.2.3 in seconds; the date form is not used by the service and read as "unknown". */
function retryAfterHeader(response: Response): number | null {
  const header = response.headers.get('retry-after');
  if (header === null || !/^\d{1,6}$/.test(header)) return null;
  return Number(header) * 1000;
}

const UNREACHABLE: Refusal = { ok: false, reason: 'unreachable', retry: true, retryAfterMs: null };

const unreachable = (again: boolean): Outcome => ({ ok: false, again, refusal: UNREACHABLE });

async function pause(ms: number, signal: AbortSignal, ports: Ports): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = ports.clock.after(ms, done);
    signal.addEventListener('abort', done);
  });
}
