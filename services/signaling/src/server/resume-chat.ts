/**
 * Checks the chat lines of a resume before the core may keep them. A line with the proof of a pod is taken as it is; the participant's own line
 * without a proof passes the checks of `chat`; any other line is dropped. SPEC rules CHAT-4, CHAT-7, CHAT-8.
 */
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { ResumeChatLine, ChatLine } from '@parley/protocol/people';
import type { ChatProofs } from '../adapters/chat-proofs.ts';

export interface ResumingParticipant {
  readonly room: RoomId;
  readonly participant: ParticipantId;
  /** As the roster will show it. */
  readonly name: string;
  /** When it first entered, Unix ms. */
  readonly since: number;
}

export interface ResumeChatRules {
  readonly limits: Pick<Limits, 'chat.resumeLines' | 'chat.chars'>;
  readonly proofs: ChatProofs;
  /** Unix time in ms. */
  readonly now: number;
  /** Takes one line from the rate of `chat`; `false` where it is exhausted. */
  readonly takeRate: () => boolean;
  readonly onDropped: (reason: Dropped) => void;
}

export type Dropped = 'number' | 'repeated' | 'length' | 'proof' | 'time' | 'rate';

/** The clocks of two pods may differ by this much: a line that a client was shown may be older than its first welcome by that. */
const CLOCK_TOLERANCE_MS = 5000;

export function readResumeChat(
  by: ResumingParticipant,
  lines: readonly ResumeChatLine[],
  rules: ResumeChatRules,
): ChatLine[] {
  const max = rules.limits['chat.resumeLines'];
  const kept = new Map<string, ChatLine>();
  for (const [at, line] of lines.entries()) {
    // The latest lines are those that other clients are least likely to have.
    const read =
      at < lines.length - max ? 'number' : kept.has(keyOf(line)) ? 'repeated' : readOne(by, line, rules);
    if (typeof read === 'string') rules.onDropped(read);
    else kept.set(keyOf(read), read);
  }
  return [...kept.values()];
}

/** Two senders may use the same id. SPEC rule CHAT-1. */
const keyOf = ({ from, id }: Pick<ChatLine, 'from' | 'id'>): string => `${from} ${id}`;

function readOne(by: ResumingParticipant, line: ResumeChatLine, rules: ResumeChatRules): ChatLine | Dropped {
  const { limits, proofs, now, takeRate } = rules;
  const { proof, ...said } = line;
  if (Array.from(said.text).length > limits['chat.chars']) return 'length';
  if (proof !== undefined) {
    if (!proofs.verify(by.room, said, proof)) return 'proof';
    return said.at < by.since - CLOCK_TOLERANCE_MS ? 'time' : { ...said, proof };
  }
  if (said.from !== by.participant) return 'proof';
  if (!takeRate()) return 'rate';
  const own = { ...said, name: by.name, at: Math.min(now, Math.max(by.since, said.at)) };
  return { ...own, proof: proofs.sign(by.room, own) };
}
