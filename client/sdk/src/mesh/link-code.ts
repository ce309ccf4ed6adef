/**
 * The code by which participants know that no other is between their browsers: of the certificates at both ends of all links. Loaded when it is first
 * asked for. SPEC rule MEDIA-30.
 */
import type { ParticipantId } from '@parley/protocol/ids';
import type { SecurityCode } from '../ports.ts';
import { codeDigits } from '../sfu/e2ee/code-digits.ts';
import type { Ends } from './peer.ts';

export class LinkCode {
  readonly #subtle: SubtleCrypto;
  readonly #salt: Uint8Array<ArrayBuffer>;
  #last: { readonly of: string; readonly digits: Promise<string> } | null = null;

  constructor(subtle: SubtleCrypto, room: string) {
    this.#subtle = subtle;
    this.#salt = new TextEncoder().encode(`parley link code ${room}`);
  }

  /** `null` without a link, and where the own end differs from link to link, so that no two participants would see the same code. */
  async of(me: ParticipantId, links: ReadonlyMap<ParticipantId, Ends>): Promise<SecurityCode | null> {
    const own = new Set([...links.values()].map(({ local }) => fingerprints(local)));
    const [certificate = ''] = own;
    const listed = [[me, certificate], ...[...links].map(([of, { remote }]) => [of, fingerprints(remote)])];
    if (own.size !== 1 || listed.some(([, found]) => found === '')) return null;
    const of = listed
      .map((entry) => entry.join(' '))
      .toSorted()
      .join('\n');
    // It takes a while to derive, on purpose.
    if (this.#last?.of !== of) this.#last = { of, digits: codeDigits(this.#subtle, of, this.#salt) };
    return { code: await this.#last.digits, participants: [...links.keys()] };
  }
}

/** Of the certificates in a session description (RFC 8122), each once: `sha-256 ab:cd:…`. */
const fingerprints = (sdp: string): string =>
  [...new Set([...sdp.matchAll(/^a=fingerprint:(\S+ \S+)/gim)].map(([, found = '']) => found.toLowerCase()))]
    .toSorted()
    .join(' ');
