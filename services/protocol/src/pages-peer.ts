/**
 * Messages between two visitors: directed messages through signaling until they are connected, then messages on the data channel or the
 * pipe, one for each page. SPEC rules PAGE-14 to PAGE-17.
 */
import { Type } from 'typebox';
import { PageAddress, PipeName } from './pages.ts';
import type { MessageOf } from './message-of.ts';

/** Identifies one connection between two visitors; chosen by the visitor that begins it. */
export const Link = Type.String({ pattern: '^[A-Za-z0-9_-]{8,22}$' });
const Sdp = Type.String({ maxLength: 16_384 });

export const LinkOffer = Type.Object({
  type: Type.Literal('offer'),
  link: Link,
  page: PageAddress,
  sdp: Sdp,
});
export const LinkAnswer = Type.Object({ type: Type.Literal('answer'), link: Link, sdp: Sdp });
/** An empty candidate is the last one. */
export const LinkCandidate = Type.Object({
  type: Type.Literal('candidate'),
  link: Link,
  candidate: Type.String({ maxLength: 1024 }),
  mid: Type.Union([Type.String({ maxLength: 32 }), Type.Null()]),
});
/**
 * Instead of an answer. `busy`: the holder serves `page.maxReaders` readers; `not-found`: it does not have the page; `glare`: both visitors sent an
 * offer at the same time, and the other offer stays.
 */
export const LinkReject = Type.Object({
  type: Type.Literal('reject'),
  link: Link,
  reason: Type.Union([Type.Literal('busy'), Type.Literal('not-found'), Type.Literal('glare')]),
});
/** No direct path was found: from here on this link goes through the stream relay. */
export const LinkPipe = Type.Object({
  type: Type.Literal('pipe'),
  link: Link,
  page: PageAddress,
  pipe: PipeName,
});

export const LINK_MESSAGES = {
  offer: LinkOffer,
  answer: LinkAnswer,
  candidate: LinkCandidate,
  reject: LinkReject,
  pipe: LinkPipe,
} as const;

/** The first message of both sides: the page, as the name of a pipe does not identify it, and the manifest, if the sender has it. */
export const Handshake = Type.Object({
  type: Type.Literal('handshake'),
  page: PageAddress,
  manifest: Type.Optional(
    Type.String({ maxLength: 262_144, description: 'The exact bytes: their SHA-256 is the address.' }),
  ),
});
/** The chunks that the sender has: a bit for each, the first in the highest bit of the first byte, base64url. Sent once the manifest is known. As in BEP 3. */
export const Bitfield = Type.Object({
  type: Type.Literal('bitfield'),
  chunks: Type.String({ maxLength: 1024 }),
});
/** The sender has one more chunk. As in BEP 3. */
export const Have = Type.Object({ type: Type.Literal('have'), chunk: Type.Integer({ minimum: 0 }) });
/** Asks for a chunk. The answer is a binary message, the chunk's number in 4 bytes, big-endian, and its bytes. */
export const Request = Type.Object({ type: Type.Literal('request'), chunk: Type.Integer({ minimum: 0 }) });
/** The sender does not have the chunk, or does not serve this reader now. As in BEP 6. */
export const Reject = Type.Object({ type: Type.Literal('reject'), chunk: Type.Integer({ minimum: 0 }) });
export const Bye = Type.Object({ type: Type.Literal('bye') });

export const PEER_MESSAGES = {
  handshake: Handshake,
  bitfield: Bitfield,
  have: Have,
  request: Request,
  reject: Reject,
  bye: Bye,
} as const;

export type LinkMessage = MessageOf<typeof LINK_MESSAGES>;
export type PeerMessage = MessageOf<typeof PEER_MESSAGES>;
