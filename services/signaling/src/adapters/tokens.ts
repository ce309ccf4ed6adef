/** Tickets, resume tokens and media tokens: EdDSA JWTs. SPEC rules KEY-1 to KEY-4. */
import {
  ISSUER,
  MEDIA_AUDIENCE,
  RESUME_AUDIENCE,
  ResumeClaims,
  STREAMS_AUDIENCE,
  TICKET_AUDIENCE,
  TicketClaims,
  type MediaClaims,
} from '@parley/protocol/tokens';
import { readJws } from './jws.ts';
import { importKeySet, type Verified } from './key-set.ts';

export interface Tokens {
  signTicket(claims: Unsigned<TicketClaims>, ttlMs: number): string;
  signResume(claims: UnsignedResume, ttlMs: number): string;
  /** Signs the same claims with a new time of issue and a later expiry. Does not verify `token`: this installation signed it. */
  renewResume(token: string, ttlMs: number): string;
  signMedia(claims: Unsigned<MediaClaims>, ttlMs: number): string;
  /** For a topic of the stream relay that two visitors of pages meet on. SPEC rule KEY-6. */
  signPipe(claims: Pick<MediaClaims, 'sub' | 'publish' | 'subscribe'>, ttlMs: number): string;
  /** Whether this pod signed the ticket and it is still valid. Such a ticket needs no check before `verifyTicket`. */
  isOwnTicket(token: string): boolean;
  /** Forgets an own ticket: where it is used again, it is verified like any other. The room knows its participant (JOIN-8). */
  verifyTicket(token: string): Verified<TicketClaims>;
  verifyResume(token: string): Verified<ResumeClaims>;
  /** Signs and verifies with this set from now on. Throws, and changes nothing, where `createTokens` would throw. SPEC rule KEY-8. */
  useKeys(set: unknown): void;
}
type Unsigned<Claims> = Omit<Claims, 'iss' | 'aud' | 'exp'>;
type UnsignedResume = Omit<Unsigned<ResumeClaims>, 'iat'>;

/** Throws where the set is malformed or its active key cannot sign: a pod must not start with it. */
export function createTokens(set: unknown): Tokens {
  let keys = importKeySet(set);
  const issued = new IssuedTickets();
  const signResume = (claims: Record<string, unknown>, ttlMs: number): string =>
    keys.sign({ ...claims, iat: Math.floor(Date.now() / 1000) }, RESUME_AUDIENCE, ttlMs);

  return {
    signTicket(claims, ttlMs) {
      const ticket = keys.sign(claims, TICKET_AUDIENCE, ttlMs);
      issued.add(ticket, claims, ttlMs);
      return ticket;
    },
    signMedia: (claims, ttlMs) => keys.sign(claims, MEDIA_AUDIENCE, ttlMs),
    signPipe: (claims, ttlMs) => keys.sign(claims, STREAMS_AUDIENCE, ttlMs),
    signResume,
    renewResume(token, ttlMs) {
      const payload = readJws(token)?.payload as ResumeClaims | undefined;
      if (payload === undefined) throw new Error('a resume token of this installation is unreadable');
      const { exp: _expired, ...claims } = payload;
      return signResume(claims, ttlMs);
    },
    isOwnTicket: (token) => issued.has(token),
    verifyTicket(token) {
      const claims = issued.take(token);
      return claims === undefined ? keys.verify(token, TicketClaims) : { ok: true, claims };
    },
    verifyResume: (token) => keys.verify(token, ResumeClaims),
    useKeys(next) {
      keys = importKeySet(next);
    },
  };
}

/** 30 s of tickets at 100 joins a second, in two generations. */
const MAX_ISSUED = 3000;

interface Issued {
  readonly claims: TicketClaims;
  readonly until: number;
}

/**
 * Tickets that this pod signed and has not seen since: the edge routes most participants back to the pod that issued the ticket, which need not
 * verify it. The young generation becomes the old one when it is full or as old as a ticket may be, so that all of this takes constant time.
 */
class IssuedTickets {
  #young = new Map<string, Issued>();
  #old = new Map<string, Issued>();
  #youngUntil = -Infinity;

  add(ticket: string, claims: Unsigned<TicketClaims>, ttlMs: number): void {
    const now = Date.now();
    const until = now + ttlMs;
    if (now >= this.#youngUntil || this.#young.size >= MAX_ISSUED / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngUntil = until;
    }
    const exp = Math.floor(until / 1000);
    this.#young.set(ticket, { claims: { ...claims, iss: ISSUER, aud: TICKET_AUDIENCE, exp }, until });
  }

  /** `false` where this pod did not sign the ticket, does not remember it, or it has expired. */
  has(ticket: string): boolean {
    const issued = this.#young.get(ticket) ?? this.#old.get(ticket);
    return issued !== undefined && issued.until > Date.now();
  }

  take(ticket: string): TicketClaims | undefined {
    const issued = this.#young.get(ticket) ?? this.#old.get(ticket);
    if (!this.#young.delete(ticket)) this.#old.delete(ticket);
    return issued !== undefined && issued.until > Date.now() ? issued.claims : undefined;
  }
}
