/** The lines of a call, merged by id. Pure. SPEC rules CHAT-1 to CHAT-4 and CHAT-8. */
import type { Chat } from '@parley/protocol/client-messages';
import type { ResumeChatLine, ChatLine } from '@parley/protocol/people';
import type { ServerMessage } from '@parley/protocol/server-messages';
import type { ChatEntry } from '../call.ts';

export type ChatLog = readonly ChatEntry[];

/** Enough to scroll back through a long meeting; older lines go. */
const KEPT_LINES = 500;
/** What a resume brings back to a room whose pods all died; the protocol takes no more. */
const RESUMED_LINES = 20;
/** A resume is a control message (limit `control.bytes`, 16 kB): half of it is left for token, name and escapes. */
const RESUMED_BYTES = 8192;
/** Lines typed while disconnected; more are not taken. */
export const UNSENT_LINES = 50;

/** Adds our own line, which is `sending` until the service has it. */
export function said(log: ChatLog, line: Omit<ChatLine, 'proof'>): ChatLog {
  return insert(log, { ...line, mine: true, status: 'sending' });
}

/** A line from the room: somebody else's, or our own coming back. The room's word on time and name wins. */
export function received(log: ChatLog, line: ChatLine, me: string | null): ChatLog {
  const known = log.find((entry) => entry.id === line.id);
  // Whoever uses the id of somebody else's line must not rewrite it. Our own line may come back under the id of a new join.
  const same = known?.from === line.from || (known?.mine === true && line.from === me);
  if (known !== undefined && !same) return log;
  const mine = line.from === me || (known?.mine ?? false);
  return insert(log, { ...line, mine, status: 'taken' });
}

/** The service has our line: time, name and sender are what the others are shown. The sender is another one after a new join. */
export function taken(
  log: ChatLog,
  { id, name, at, proof }: Extract<ServerMessage, { type: 'chat-ack' }>,
  me: string | null,
): ChatLog {
  const known = log.find((entry) => entry.id === id && entry.mine);
  if (known === undefined) return log;
  return insert(log, { ...known, from: me ?? known.from, name, at, proof, status: 'taken' });
}

/** The service answered our line with an error. A line that was taken stays taken. */
export function refused(log: ChatLog, id: string): ChatLog {
  return log.map((entry) =>
    entry.id === id && entry.status === 'sending' ? { ...entry, status: 'refused' } : entry,
  );
}

/** What to send again after a resume, under the same ids, so that a line that did arrive is not doubled. */
export function unacknowledged(log: ChatLog): readonly Chat[] {
  return log
    .filter((entry) => entry.status === 'sending')
    .map(({ id, text }) => ({ type: 'chat', id, text }));
}

/** The last lines the service had taken, each with its proof, for `resume`; fewer where they are long. */
export function lastLines(log: ChatLog): ResumeChatLine[] {
  const lines: ResumeChatLine[] = [];
  let bytes = 0;
  for (const { id, from, name, text, at, status, proof } of log.toReversed()) {
    if (status !== 'taken' || proof === undefined) continue;
    const line = { id, from, name, text, at, proof };
    bytes += new TextEncoder().encode(JSON.stringify(line)).length;
    if (lines.length === RESUMED_LINES || bytes > RESUMED_BYTES) break;
    lines.push(line);
  }
  return lines.toReversed();
}

function insert(log: ChatLog, entry: ChatEntry): ChatLog {
  const others = log.filter((other) => other.id !== entry.id);
  // Lines nearly always come at the end: look for the place from there.
  let place = others.length;
  while (place > 0 && (others[place - 1]?.at ?? 0) > entry.at) place -= 1;
  return [...others.slice(0, place), entry, ...others.slice(place)].slice(-KEPT_LINES);
}
