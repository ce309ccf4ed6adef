/**
 * The messages between two clients, which the service forwards without reading. They come from another browser, so that each part has a bound and a
 * schema; anything else is dropped. SPEC rule DIR-2.
 */
import { decode } from '@parley/protocol/decode';
import { Type, type Static } from 'typebox';
import type { Compression, KeySignal } from '../ports.ts';

/**
 * Identifies one RTCPeerConnection between two participants: signals of an older one are dropped. The starter of a link chooses the value, always
 * above the previous one; Unix time in ms keeps this true across a reload.
 */
const Session = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** The role of a media section, by its mid: `Role` of `media.ts`. */
const Role = Type.Union([
  Type.Literal('microphone'),
  Type.Literal('camera'),
  Type.Literal('screen'),
  Type.Literal('screen-audio'),
]);
const Mid = Type.String({ minLength: 1, maxLength: 16 });

export const DescriptionSignal = Type.Object({
  type: Type.Literal('description'),
  session: Session,
  /** Number of the offer among its sender’s; an answer repeats it. */
  round: Type.Integer({ minimum: 1 }),
  kind: Type.Union([Type.Literal('offer'), Type.Literal('answer')]),
  sdp: Type.String({ maxLength: 200_000 }),
  roles: Type.Array(Type.Object({ mid: Mid, role: Role }), { maxItems: 16 }),
});
export const CandidatesSignal = Type.Object({
  type: Type.Literal('candidates'),
  session: Session,
  candidates: Type.Array(
    Type.Object({
      candidate: Type.String({ maxLength: 1024 }),
      sdpMid: Type.Union([Mid, Type.Null()]),
      sdpMLineIndex: Type.Union([Type.Integer({ minimum: 0, maximum: 64 }), Type.Null()]),
      usernameFragment: Type.Union([Type.String({ maxLength: 256 }), Type.Null()]),
    }),
    { maxItems: 200 },
  ),
});
/** From the side that waits for an offer: "I have no working connection above this session". */
export const RenewSignal = Type.Object({ type: Type.Literal('renew'), session: Session });

const Key = Type.String({ maxLength: 256 });
const MediaPath = Type.Union([Type.Literal('mesh'), Type.Literal('sfu')]);
/** The path that the sender wants for the pair, whether it supports relays, and whether it receives our media through relays. */
export const PathSignal = Type.Object({
  type: Type.Literal('path'),
  preferred: MediaPath,
  supported: Type.Boolean(),
  receiving: Type.Boolean(),
});

/** Keys of end-to-end encrypted media, in base64url. SPEC rule MEDIA-27. */
const KeyMessage = Type.Object({
  type: Type.Literal('key'),
  publicKey: Key,
  proof: Key,
  asks: Type.Boolean(),
  sealed: Type.Optional(Key),
});

/** Data of the application, in base64url. SPEC rule DATA-2. */
export const DataSignal = Type.Object({
  type: Type.Literal('data'),
  number: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  text: Type.Boolean(),
  sealed: Type.Boolean(),
  data: Type.String({ maxLength: 22_000 }),
});

const SIGNALS = {
  description: DescriptionSignal,
  candidates: CandidatesSignal,
  renew: RenewSignal,
  path: PathSignal,
  key: KeyMessage,
  data: DataSignal,
};

export type RoleOfMid = Static<typeof DescriptionSignal>['roles'][number];
export type DescriptionSignal = Static<typeof DescriptionSignal>;
export type CandidatesSignal = Static<typeof CandidatesSignal>;
export type Candidate = CandidatesSignal['candidates'][number];
export type PathSignal = Static<typeof PathSignal>;
/** The signals about media through relays. */
export type RelaySignal = PathSignal | KeySignal;
/** The signals of a link. */
export type LinkSignal = DescriptionSignal | CandidatesSignal | Static<typeof RenewSignal>;
export type DataSignal = Static<typeof DataSignal>;
export type Signal = LinkSignal | RelaySignal | DataSignal;

/** Below this size compression gains little and costs both sides time. */
const DEFLATE_ABOVE_BYTES = 1024;
/** Far above any session description; a small message that inflates to more is an attack. */
const MAX_INFLATED_BYTES = 1_048_576;

/** JSON text, or its deflate-raw bytes if they are smaller. */
export async function encodeSignal(
  signal: Signal,
  compression: Compression | null,
): Promise<string | Uint8Array<ArrayBuffer>> {
  const text = JSON.stringify(signal);
  if (compression === null || text.length <= DEFLATE_ABOVE_BYTES) return text;
  const bytes = new TextEncoder().encode(text);
  const deflated = await compression.deflate(bytes).catch(() => bytes);
  return deflated.length < bytes.length ? deflated : text;
}

/** `undefined` for data that is not a signal. Never throws. */
export async function decodeSignal(
  payload: string | Uint8Array<ArrayBuffer>,
  compression: Compression | null,
): Promise<Signal | undefined> {
  try {
    const text = typeof payload === 'string' ? payload : await inflate(payload, compression);
    if (text === undefined || text.length > MAX_INFLATED_BYTES) return undefined;
    return parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function inflate(
  payload: Uint8Array<ArrayBuffer>,
  compression: Compression | null,
): Promise<string | undefined> {
  if (compression === null) return undefined;
  const bytes = await compression.inflate(payload, MAX_INFLATED_BYTES);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function parse(value: unknown): Signal | undefined {
  const { type } = Object(value) as { type: keyof typeof SIGNALS };
  if (!Object.hasOwn(SIGNALS, type)) return undefined;
  const decoded = decode(SIGNALS[type], value);
  return decoded.ok ? decoded.message : undefined;
}
