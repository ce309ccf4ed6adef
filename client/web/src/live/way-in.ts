/** Asks the service which relay to take: before every connection, as it may be another by then (MEDIA-6). */
import type { Close } from '../streams/closes.ts';
import { refusalOf, UNREACHABLE } from './refusals.ts';

export interface WayIn {
  /** What the broadcast is called on the relay. */
  readonly broadcast: string;
  readonly relay: Relay;
}

export interface Relay {
  readonly url: string;
  readonly token: string;
  /** SHA-256, base64; empty where a public CA signed the certificate. */
  readonly certificateHashes: readonly string[];
}

export type WayAnswer =
  { readonly way: WayIn } | { readonly refused: Close; readonly afterMs: number | null };

/** The service answers from memory. */
const ANSWER_MS = 10_000;

/** `without`: the address of the relay that was lost or goes (MEDIA-10). */
export async function askTheWay(name: string, publish: boolean, without?: string): Promise<WayAnswer> {
  try {
    const answer = await fetch(`/v1/live/${encodeURIComponent(name)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ publish, without }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const body: unknown = await answer.json().catch(() => null);
    // It comes from our own origin.
    if (answer.ok && body !== null) return { way: body as WayIn };
    return { refused: refusalOf(codeIn(body)), afterMs: retryAfterMs(answer) };
  } catch {
    return { refused: UNREACHABLE, afterMs: null };
  }
}

/** How long a session lasts that begins now, as the token says (MEDIA-5). It counts from its own beginning: this clock may be wrong. */
export function sessionMs({ token }: Relay): number | null {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { iat, exp } = JSON.parse(atob(payload)) as { readonly iat: number; readonly exp: number };
    return exp > iat ? (exp - iat) * 1000 : null;
  } catch {
    return null;
  }
}

function codeIn(body: unknown): string {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  return typeof code === 'string' ? code : '';
}

function retryAfterMs(answer: Response): number | null {
  const seconds = Number.parseFloat(answer.headers.get('retry-after') ?? '');
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
