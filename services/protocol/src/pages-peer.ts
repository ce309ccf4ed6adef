/**
 * What two visitors say to each other: through signaling (directed messages) until they are connected, then on the data channel or the pipe,
 * one for each page. SPEC rules PAGE-14 to PAGE-17.
 */
import { Type, type Static } from 'typebox';
import { PageAddress, PipeName } from './pages.ts';

/** Names one connection between two visitors; chosen by the one who begins it. */
export const Link = Type.String({ pattern: '^[A-Za-z0-9_-]{8,22}$' });
const Sdp = Type.String({ maxLength: 16_384 });

export const LinkOffer = Type.Object({
  type: Type.Literal('offer'),
  link: Link,
  page: PageAddress,
  sdp: Sdp,
});
export const LinkAnswer = Type.Object({ type: Type.Literal('answer'), link: Link, sdp: Sdp });
/** The empty candidate ends them. */
export const LinkCandidate = Type.Object({
  type: Type.Literal('candidate'),
  link: Link,
  candidate: Type.String({ maxLength: 1024 }),
  mid: Type.Union([Type.String({ maxLength: 32 }), Type.Null()]),
});
/** Instead of an answer. `busy`: as many readers are served as may be; `none`: not here; `double`: yours and mine met, mine stays. */
export const LinkRefusal = Type.Object({
  type: Type.Literal('refuse'),
  link: Link,
  why: Type.Union([Type.Literal('busy'), Type.Literal('none'), Type.Literal('double')]),
});
/** No direct way was found: from here on this link goes through the stream relay. */
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
  refuse: LinkRefusal,
  pipe: LinkPipe,
} as const;

/** First from both sides: which page this is, as a pipe is opened by name; and the manifest, by whoever has it. */
export const Open = Type.Object({
  type: Type.Literal('open'),
  page: PageAddress,
  manifest: Type.Optional(
    Type.String({ maxLength: 262_144, description: 'As it stands: its SHA-256 is the address.' }),
  ),
});
/** Which chunks I have: a bit for each, the first in the highest bit of the first byte, base64url. Once the manifest is known. */
export const Have = Type.Object({ type: Type.Literal('have'), chunks: Type.String({ maxLength: 1024 }) });
/** One more. */
export const Got = Type.Object({ type: Type.Literal('got'), chunk: Type.Integer({ minimum: 0 }) });
/** Send me this one: the answer is a binary message, the chunk's number in 4 bytes, big-endian, and its bytes. */
export const Get = Type.Object({ type: Type.Literal('get'), chunk: Type.Integer({ minimum: 0 }) });
/** I do not have it, or do not serve you now. */
export const Not = Type.Object({ type: Type.Literal('not'), chunk: Type.Integer({ minimum: 0 }) });
export const Bye = Type.Object({ type: Type.Literal('bye') });

export const PEER_MESSAGES = { open: Open, have: Have, got: Got, get: Get, not: Not, bye: Bye } as const;

export type LinkMessage =
  | Static<typeof LinkOffer>
  | Static<typeof LinkAnswer>
  | Static<typeof LinkCandidate>
  | Static<typeof LinkRefusal>
  | Static<typeof LinkPipe>;
export type PeerMessage =
  | Static<typeof Open>
  | Static<typeof Have>
  | Static<typeof Got>
  | Static<typeof Get>
  | Static<typeof Not>
  | Static<typeof Bye>;
