/** The data of a participant that the others in the room receive. SPEC rules ROS-1 and ROS-2. */
import { Type, type Static } from 'typebox';
import { ParticipantId } from './ids.ts';

/** @hidden */
export const Media = Type.Object({
  audio: Type.Boolean(),
  video: Type.Boolean(),
  screen: Type.Boolean(),
  hand: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2 ** 31,
      description: 'Present while a hand is raised: lower numbers were raised earlier. SPEC rule HAND-2.',
    }),
  ),
});
/**
 * Which media a participant sends, and whether its hand is raised. A muted microphone is `audio: false`. `hand` is present while a hand is raised;
 * hands are ordered by it, and equal ones by the id of their participant.
 * @useDeclaredType
 */
export type Media = Static<typeof Media>;

/** @hidden */
export const Presence = Type.Union([Type.Literal('here'), Type.Literal('away'), Type.Literal('unreachable')]);
/**
 * `here`: has a socket. `away`: lost it and is within the grace period. `unreachable`: on the far side of a broken link between regions.
 * @useDeclaredType
 */
export type Presence = Static<typeof Presence>;

/** A display name; its length and characters are checked against the limit `name.chars` in `checkName`. */
export const DisplayName = Type.String({ minLength: 1, maxLength: 256 });

export const Member = Type.Object({
  participant: ParticipantId,
  name: DisplayName,
  media: Media,
  state: Presence,
  owner: Type.Optional(Type.Boolean({ description: 'Joined with the owner key of the room.' })),
});
export type Member = Static<typeof Member>;

/** The largest `room.coOwners`. */
export const MAX_CO_OWNERS = 100;
/** Participants whom the holder of the owner key made owners. SPEC rule MOD-16. */
export const CoOwners = Type.Array(ParticipantId, { maxItems: MAX_CO_OWNERS });
export type CoOwners = Static<typeof CoOwners>;

/** The largest `room.muted`. */
export const MAX_MUTED = 1000;
/** Whom owners muted. An owner is never muted. SPEC rule MOD-14. */
export const Mutes = Type.Object({
  all: Type.Boolean({ description: 'Whether all but owners and `participants` are, and not only these.' }),
  participants: Type.Array(ParticipantId, { maxItems: MAX_MUTED }),
});
export type Mutes = Static<typeof Mutes>;
export const NO_MUTES: Mutes = { all: false, participants: [] };
export const isMuted = (
  { all, participants }: Mutes,
  { participant, owner = false }: Pick<Member, 'participant' | 'owner'>,
): boolean => !owner && all !== participants.includes(participant);

/** @hidden */
export const Waiting = Type.Object({ participant: ParticipantId, name: DisplayName });
/** A newcomer in the lobby of a room. @useDeclaredType */
export type Waiting = Static<typeof Waiting>;

export const ChatText = Type.String({ minLength: 1, maxLength: 8000 });
export const ChatId = Type.String({
  pattern: '^[A-Za-z0-9_-]{8,36}$',
  description: 'Chosen by the sender; readers merge lines by it.',
});

/** The reactions of a call, each one emoji. */
export const REACTIONS: readonly string[] = ['👍', '❤️', '👏', '😂', '😮', '🎉'];
export const ReactionEmoji = Type.String({ pattern: '^(?:👍|❤️|👏|😂|😮|🎉)$' });

/** 128 bits of HMAC-SHA-256, base64url. */
export const ChatProof = Type.String({
  pattern: '^[A-Za-z0-9_-]{22}$',
  description: 'Proves that a pod accepted this line from this participant; a client keeps it with the line.',
});

const line = {
  id: ChatId,
  from: ParticipantId,
  name: DisplayName,
  text: ChatText,
  at: Type.Integer({
    minimum: 0,
    description:
      'Unix time in ms by the clock of the pod that accepted the line; for display, never for ordering state.',
  }),
};
export const ChatLine = Type.Object({ ...line, proof: ChatProof });
export type ChatLine = Static<typeof ChatLine>;

/** A line in `resume`: a line of the client's own that no pod has acknowledged has no proof. */
export const ResumeChatLine = Type.Object({ ...line, proof: Type.Optional(ChatProof) });
export type ResumeChatLine = Static<typeof ResumeChatLine>;

// Control characters, halves of surrogate pairs, and invisible characters that reorder or split the text around them: bidirectional
// controls, the zero-width space, word joiners. Joiners are allowed: emoji and Persian need them.
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u200b\u2060-\u2064\ufeff]/u;
/** A visible character: not a blank, a joiner, a mark of formatting, or an accent over nothing. */
const VISIBLE = /[^\p{Z}\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The name to display (trimmed, inner white space folded), or `undefined` if it is not allowed. */
export function checkName(name: string, maxChars: number): string | undefined {
  if (FORBIDDEN.test(name) || !VISIBLE.test(name)) return undefined;
  const shown = name.trim().replace(/\s+/g, ' ');
  return Array.from(shown).length <= maxChars ? shown : undefined;
}
