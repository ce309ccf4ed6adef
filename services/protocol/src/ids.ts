/** Ids of rooms, participants, pods and regions: their grammar and a parser. SPEC rules ROOM-1 to ROOM-4. */
import { Type, type Static } from 'typebox';

/** 16 symbols of Crockford base32 in four groups: 80 bits, so an ad-hoc room cannot be guessed. */
export const AD_HOC_ROOM_PATTERN = '[0-9a-hjkmnp-tv-z]{4}(?:-[0-9a-hjkmnp-tv-z]{4}){3}';
const REGION_PATTERN = '[a-z0-9](?:[a-z0-9-]{0,14}[a-z0-9])?';
export const NAMED_ROOM_PATTERN = `[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?@${REGION_PATTERN}`;

/** @hidden */
export const RoomId = Type.String({
  $id: 'RoomId',
  pattern: `^(?:${AD_HOC_ROOM_PATTERN}|${NAMED_ROOM_PATTERN})$`,
  maxLength: 65,
  description: 'An ad-hoc room (`xxxx-xxxx-xxxx-xxxx`) or a named room with its home region (`standup@eu`).',
});
export const RoomName = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$',
  maxLength: 48,
  description: 'The part of a named room before `@`; unique in its home region.',
});
/** @hidden */
export const RegionId = Type.String({ pattern: `^${REGION_PATTERN}$`, maxLength: 16 });
const PARTICIPANT_PATTERN = '^p[0-9a-hjkmnp-tv-z]{16}$';

/** @hidden */
export const ParticipantId = Type.String({
  pattern: PARTICIPANT_PATTERN,
  description: 'Chosen by the server at join; a participant keeps it through every resume.',
});
const POD_NAME_PATTERN = '[a-zA-Z0-9][a-zA-Z0-9-]{0,62}';
export const PodName = Type.String({
  pattern: `^${POD_NAME_PATTERN}$`,
  maxLength: 63,
  description: 'Unique in its region, as the name of a pod in a Kubernetes namespace is.',
});
export const PodId = Type.String({
  pattern: `^(?:${REGION_PATTERN}_)?${POD_NAME_PATTERN}$`,
  maxLength: 80,
  description: 'The region and the name of a pod, with `_` between them: unique in all regions.',
});

export const LiveName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  maxLength: 64,
  description: 'A live broadcast, which has no room: one segment of the address of its page.',
});

/** The id of a room, as text: ad-hoc (`xxxx-xxxx-xxxx-xxxx`) or named, with its home region (`standup@eu`). @useDeclaredType */
export type RoomId = Static<typeof RoomId>;
/** The name of a region: 1 to 16 lower-case letters, digits and `-`. @useDeclaredType */
export type RegionId = Static<typeof RegionId>;
/** Chosen by the service at the join; a participant keeps it through every resume. @useDeclaredType */
export type ParticipantId = Static<typeof ParticipantId>;
export type PodId = Static<typeof PodId>;

export const podId = (region: RegionId, name: string): PodId => `${region}_${name}`;
export const podNameOf = (id: PodId): string => id.slice(id.indexOf('_') + 1);
/** The region in the id of a pod or relay; empty for a pod without one. */
export const regionIn = (id: PodId): RegionId => id.slice(0, Math.max(0, id.indexOf('_')));

/** The parts of the id of a room. `region`: the home region of a named room. */
export type RoomReference =
  | { readonly kind: 'ad-hoc'; readonly room: RoomId }
  | { readonly kind: 'named'; readonly room: RoomId; readonly name: string; readonly region: RegionId };

const PARTICIPANT = new RegExp(PARTICIPANT_PATTERN);

export const isParticipantId = (text: string): boolean => PARTICIPANT.test(text);

const AD_HOC = new RegExp(`^${AD_HOC_ROOM_PATTERN}$`);
const NAMED = new RegExp(`^${NAMED_ROOM_PATTERN}$`);

/** Reads a room id; `undefined` if it is neither an ad-hoc nor a named room. */
export function parseRoomId(text: string): RoomReference | undefined {
  if (AD_HOC.test(text)) return { kind: 'ad-hoc', room: text };
  if (!NAMED.test(text)) return undefined;
  const at = text.indexOf('@');
  return { kind: 'named', room: text, name: text.slice(0, at), region: text.slice(at + 1) };
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Crockford base32 of random bytes, one symbol a byte (the upper three bits are dropped). */
export function symbols(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += ALPHABET.charAt(byte & 31);
  return text;
}

/** A new ad-hoc room id from 16 random bytes. Such a room is not created in advance: it exists while participants are in it. */
export function adHocRoomId(random: Uint8Array): RoomId {
  const text = symbols(random.subarray(0, 16));
  return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}`;
}

/** A new participant id from 16 random bytes. */
export function participantId(random: Uint8Array): ParticipantId {
  return `p${symbols(random.subarray(0, 16))}`;
}
