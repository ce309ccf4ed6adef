/** Asks the service for a relay before every connection, because the answer may change (MEDIA-6). */
import type { AssignmentAnswer as SdkAnswer, RelayAssignment } from '@parley/sdk/sfu/relay-link';
import type { DisconnectReason } from '../streams/disconnect-reasons.ts';
import { refusalOf, UNREACHABLE } from './refusals.ts';

export type RelayAnswer = SdkAnswer<DisconnectReason>;

/**
 * The service answers from memory. If it does not, the connection that the browser keeps may lead to a dead edge until TCP times out. The second
 * attempt is made without credentials, which are not needed here, because browsers use another connection for that.
 */
const ATTEMPTS = [
  { credentials: 'same-origin', withinMs: 3000 },
  { credentials: 'omit', withinMs: 7000 },
] as const;

/** `exclude`: the address of the relay that was lost or drains (MEDIA-10). */
export async function requestRelay(name: string, publish: boolean, exclude?: string): Promise<RelayAnswer> {
  try {
    const answer = await post(`/v1/live/${encodeURIComponent(name)}`, JSON.stringify({ publish, exclude }));
    const body: unknown = await answer.json().catch(() => null);
    // The answer comes from our own origin.
    if (answer.ok && body !== null) return { assignment: body as RelayAssignment };
    return { refused: refusalOf(codeIn(body)), afterMs: retryAfterMs(answer) };
  } catch {
    return { refused: UNREACHABLE, afterMs: null };
  }
}

async function post(url: string, body: string): Promise<Response> {
  let failure: unknown;
  for (const { credentials, withinMs } of ATTEMPTS) {
    const signal = AbortSignal.timeout(withinMs);
    const headers = { 'content-type': 'application/json' };
    try {
      return await fetch(url, { method: 'POST', headers, body, credentials, signal });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function codeIn(body: unknown): string {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  return typeof code === 'string' ? code : '';
}

function retryAfterMs(answer: Response): number | null {
  const seconds = Number.parseFloat(answer.headers.get('retry-after') ?? '');
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
