/** Pages: their address and manifest, and the messages on a visitor's socket. SPEC rules PAGE-1 to PAGE-17. */
import { Type, type Static } from 'typebox';
import { Ping } from './client-messages.ts';
import { IceOffer, IceServer } from './http.ts';
import { PodId, symbols } from './ids.ts';
import { ErrorMessage, Goaway, Pong, Undelivered } from './server-messages.ts';
import type { MessageOf } from './message-of.ts';

/** @hidden */
export const PageAddress = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of the manifest of a page, in lower-case hex.',
});
/** The address of a page: SHA-256 of its manifest, 64 digits of lower-case hex. @useDeclaredType */
export type PageAddress = Static<typeof PageAddress>;

/** The path of the socket of a visitor. */
export const PAGES_SOCKET = '/v1/pages/socket';
/** The page of an address in the web application. The key, if there is one, is the fragment `#key=`. */
export const pagePath = (page: PageAddress): string => `/p/${page}`;

const VISITOR_PATTERN = '^v[0-9a-hjkmnp-tv-z]{16}$';
export const VisitorId = Type.String({
  pattern: VISITOR_PATTERN,
  description: 'One socket of one tab. Seven symbols identify its pod, nine are random.',
});
export type VisitorId = Static<typeof VisitorId>;

/** The number of symbols of a visitor's id that identify its pod. */
export const TAG_SYMBOLS = 7;
const RANDOM_SYMBOLS = 9;

/** A new visitor id of the pod with this tag, from 9 random bytes. */
export const visitorId = (tag: string, random: Uint8Array): VisitorId =>
  `v${tag}${symbols(random.subarray(0, RANDOM_SYMBOLS))}`;
/** The tag of the visitor's pod. */
export const tagIn = (visitor: VisitorId): string => visitor.slice(1, 1 + TAG_SYMBOLS);

const VISITOR = new RegExp(VISITOR_PATTERN);
export const isVisitorId = (text: string): boolean => VISITOR.test(text);

/** The last symbol has four bits of the hash and two zeros: any other symbol would be a second encoding, which no content can have. */
export const Sha256 = Type.String({
  pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$',
  description: 'SHA-256, base64url.',
});
/** Chunks of the largest page that an installation may allow. */
const MAX_CHUNKS = 4096;

/** Type and name of an encrypted page. */
export const EncryptedHead = Type.String({
  maxLength: 1024,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Type and name of the page as encrypted JSON, base64url.',
});
export const MediaType = Type.String({
  maxLength: 100,
  pattern: '^[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*$',
  description:
    'Media type, without parameters; text is UTF-8. Of an encrypted page application/octet-stream.',
});

/** How a page is encrypted. SPEC rule PAGE-4. */
export const PageSeal = Type.Object({
  scheme: Type.Literal('AES-128-GCM'),
  head: EncryptedHead,
});

/** The root of a page's hash tree. Its address is the SHA-256 of its exact bytes. */
export const PageManifest = Type.Object({
  v: Type.Literal(1),
  type: MediaType,
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Name of the file, for display only.' }),
  ),
  bytes: Type.Integer({ minimum: 1, description: 'Size of all chunks together.' }),
  chunkBytes: Type.Integer({
    minimum: 1,
    description: 'Size of every chunk except the last, which may be shorter.',
  }),
  sha256: Sha256,
  chunks: Type.Array(Sha256, { minItems: 1, maxItems: MAX_CHUNKS }),
  seal: Type.Optional(PageSeal),
});
export type PageManifest = Static<typeof PageManifest>;

/** A topic of the stream relay on which two visitors meet: 16 random bytes, base64url. */
export const PipeName = Type.String({ pattern: '^[A-Za-z0-9_-]{22}$' });
export const pipeTopic = (pipe: string): string => `pages/${pipe}`;

/** The visitor wants the page. `exclude` names visitors that did not provide it. */
export const Subscribe = Type.Object({
  type: Type.Literal('subscribe'),
  page: PageAddress,
  exclude: Type.Optional(Type.Array(VisitorId, { maxItems: 64 })),
});
/** The visitor provides the page: all of it, or the chunks it has while it fetches the others. */
export const Announce = Type.Object({
  type: Type.Literal('announce'),
  page: PageAddress,
  whole: Type.Boolean(),
  bytes: Type.Integer({ minimum: 1, description: 'Size of the whole page.' }),
});
/** The visitor no longer provides the page or wants it. */
export const Leave = Type.Object({ type: Type.Literal('leave'), page: PageAddress });
/** Asks for a token for a topic of the stream relay, for two visitors that cannot connect otherwise. */
export const PipeRequest = Type.Object({ type: Type.Literal('pipe'), pipe: PipeName });
export const PageIceRequest = Type.Object({ type: Type.Literal('ice') });

export const VISITOR_MESSAGES = {
  subscribe: Subscribe,
  announce: Announce,
  leave: Leave,
  pipe: PipeRequest,
  ice: PageIceRequest,
  ping: Ping,
} as const;

/** @hidden */
export const PageLimits = Type.Object({
  pageBytes: Type.Integer({ minimum: 1 }),
  chunkBytes: Type.Integer({ minimum: 1 }),
  perVisitor: Type.Integer({ minimum: 1, description: 'Pages that one visitor holds or wants.' }),
  maxHolders: Type.Integer({ minimum: 1, description: 'Holders that a reader is connected with at once.' }),
  maxReaders: Type.Integer({ minimum: 1, description: 'Readers that a holder serves at once.' }),
  memoryBytes: Type.Integer({ minimum: 1, description: 'All pages of one visitor together.' }),
  messageBytes: Type.Integer({ minimum: 1, description: 'One message on this socket.' }),
});
/**
 * Limits that a visitor observes. `pageBytes`, `chunkBytes`, `messageBytes` (on the socket) and `memoryBytes` (all pages of the visitor) are sizes in
 * bytes. `perVisitor`: pages that a visitor holds or wants. `maxHolders`: holders that a reader is connected with at once; `maxReaders`: readers that
 * a holder serves at once.
 * @useDeclaredType
 */
export type PageLimits = Static<typeof PageLimits>;

const Count = Type.Integer({ minimum: 0 });

/** The first message on a socket. */
export const PageWelcome = Type.Object({
  type: Type.Literal('welcome'),
  visitor: VisitorId,
  pod: PodId,
  iceServers: Type.Array(IceServer, { description: 'STUN only: `ice` answers credentials for TURN.' }),
  limits: PageLimits,
  visitors: Count,
});
/** A visitor that has a page, or some of it. */
export const Holder = Type.Object({ visitor: VisitorId, whole: Type.Boolean() });
/** Holders that a reader may ask, a random sample. The answer to `subscribe`; sent again when other holders arrive. */
export const Holders = Type.Object({
  type: Type.Literal('holders'),
  page: PageAddress,
  holders: Type.Array(Holder, { maxItems: 64 }),
});
/** How many visitors have the page, and how many are fetching it; sent to all of them when it changes. */
export const PageCount = Type.Object({
  type: Type.Literal('count'),
  page: PageAddress,
  holders: Count,
  readers: Count,
  settled: Type.Boolean({
    description: 'The count includes every holder. 0 holders then means that the page is gone.',
  }),
});
/** How many visitors the site has. */
export const Visitors = Type.Object({ type: Type.Literal('visitors'), visitors: Count });
/** `token`: the token for the topic, where the stream relay requires tokens. */
export const Pipe = Type.Object({ type: Type.Literal('pipe'), pipe: PipeName, token: Type.String() });
export const PageIce = Type.Object({ type: Type.Literal('ice'), ...IceOffer.properties });

export const VisitorUndelivered = Type.Object({ ...Undelivered.properties, to: VisitorId });

export const VISIT_MESSAGES = {
  welcome: PageWelcome,
  holders: Holders,
  count: PageCount,
  visitors: Visitors,
  pipe: Pipe,
  ice: PageIce,
  pong: Pong,
  undelivered: VisitorUndelivered,
  goaway: Goaway,
  error: ErrorMessage,
} as const;

export type Subscribe = Static<typeof Subscribe>;
export type Announce = Static<typeof Announce>;
export type VisitorMessage = MessageOf<typeof VISITOR_MESSAGES>;
export type PageWelcome = Static<typeof PageWelcome>;
export type Holders = Static<typeof Holders>;
export type PageCount = Static<typeof PageCount>;
export type VisitMessage = MessageOf<typeof VISIT_MESSAGES>;
