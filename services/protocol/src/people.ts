/** What participants of a room know of each other. SPEC rules ROS-1 and ROS-2. */
import { Type, type Static } from 'typebox';
import { ParticipantId } from './ids.ts';

/** Which media a participant sends. A muted microphone is `audio: false`. */
export const Media = Type.Object({
  audio: Type.Boolean(),
  video: Type.Boolean(),
  screen: Type.Boolean(),
});
export type Media = Static<typeof Media>;

/**
 * `here`: has a socket. `away`: lost it and is within the grace period. `unreachable`: on the far side of a broken link between regions.
 */
export const Presence = Type.Union([Type.Literal('here'), Type.Literal('away'), Type.Literal('unreachable')]);
export type Presence = Static<typeof Presence>;

/** A display name; its length and characters are checked against the limit `name.chars` in `checkName`. */
export const DisplayName = Type.String({ minLength: 1, maxLength: 256 });

export const Member = Type.Object({
  participant: ParticipantId,
  name: DisplayName,
  media: Media,
  state: Presence,
  owner: Type.Optional(Type.Boolean({ description: 'Came with the owner key of the room.' })),
});
export type Member = Static<typeof Member>;

/** A newcomer in the lobby of a room. */
export const Waiting = Type.Object({ participant: ParticipantId, name: DisplayName });
export type Waiting = Static<typeof Waiting>;

export const ChatText = Type.String({ minLength: 1, maxLength: 8000 });
export const ChatId = Type.String({
  pattern: '^[A-Za-z0-9_-]{8,36}$',
  description: 'Chosen by the sender; lines are merged by it.',
});

/** 128 bits of HMAC-SHA-256, base64url. */
export const ChatProof = Type.String({
  pattern: '^[A-Za-z0-9_-]{22}$',
  description: 'Shows that a pod took this line of this participant; a client keeps it with the line.',
});

const line = {
  id: ChatId,
  from: ParticipantId,
  name: DisplayName,
  text: ChatText,
  at: Type.Integer({
    minimum: 0,
    description:
      'Unix time in ms by the clock of the pod that took the line; for showing, never for ordering state.',
  }),
};
export const ChatLine = Type.Object({ ...line, proof: ChatProof });
export type ChatLine = Static<typeof ChatLine>;

/** As a client brings it along: an own line that no pod has acknowledged has no proof. */
export const ResumeChatLine = Type.Object({ ...line, proof: Type.Optional(ChatProof) });
export type ResumeChatLine = Static<typeof ResumeChatLine>;

// Control characters, halves of surrogate pairs, and what turns or cuts the text around it unseen: bidirectional controls, the
// zero-width space, word joiners. Joiners stay: emoji and Persian need them.
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u200b\u2060-\u2064\ufeff]/u;
/** Something to see, and not only blanks, joiners, marks of formatting, or accents over nothing. */
const VISIBLE = /[^\p{Z}\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** A name as it will be shown (trimmed, inner white space folded), or `undefined` where it may not be used. */
export function checkName(name: string, maxChars: number): string | undefined {
  if (FORBIDDEN.test(name) || !VISIBLE.test(name)) return undefined;
  const shown = name.trim().replace(/\s+/g, ' ');
  return Array.from(shown).length <= maxChars ? shown : undefined;
}
