/** The lines of a call, merged by id. Pure. SPEC rules CHAT-1 to CHAT-4 and CHAT-8. */
import type { Chat } from '@parley/protocol/client-messages';
import type { ResumeChatLine, ChatLine } from '@parley/protocol/people';
import type { ServerMessage } from '@parley/protocol/server-messages';
import type { ChatEntry } from '../call.ts';

export type ChatLog = readonly ChatEntry[];

/** Enough for a long meeting; older lines are dropped. */
const KEPT_LINES = 500;
/** The lines that a resume restores in a room whose pods all failed; the limit of the protocol. */
const RESUMED_LINES = 20;
/** A resume is a control message (limit `control.bytes`, 16 kB): half of it is reserved for token, name and escapes. */
const RESUMED_BYTES = 8192;
/** The limit of lines written while disconnected. */
export const UNSENT_LINES = 50;

/** Adds a line of ours, which is `sending` until the service acknowledges it. */
export function added(log: ChatLog, line: Omit<ChatLine, 'proof'>): ChatLog {
  return insert(log, { ...line, mine: true, status: 'sending' });
}

/** Takes a line from the room, of another participant or our own. Time and name of the room replace ours. */
export function received(log: ChatLog, line: ChatLine, me: string | null): ChatLog {
  const known = log.find((entry) => entry.id === line.id);
  // A participant who uses the id of another one's line must not change that line. Our own line may return under the id of a new join.
  const same = known?.from === line.from || (known?.mine === true && line.from === me);
  if (known !== undefined && !same) return log;
  const mine = line.from === me || (known?.mine ?? false);
  return insert(log, { ...line, mine, status: 'acknowledged' });
}

/** The service acknowledged our line: time, name and sender are those that others see. The sender differs after a new join. */
export function acknowledged(
  log: ChatLog,
  { id, name, at, proof }: Extract<ServerMessage, { type: 'chat-ack' }>,
  me: string | null,
): ChatLog {
  const known = log.find((entry) => entry.id === id && entry.mine);
  if (known === undefined) return log;
  return insert(log, { ...known, from: me ?? known.from, name, at, proof, status: 'acknowledged' });
}

/** The service refused our line. An acknowledged line stays acknowledged. */
export function refused(log: ChatLog, id: string): ChatLog {
  return log.map((entry) =>
    entry.id === id && entry.status === 'sending' ? { ...entry, status: 'refused' } : entry,
  );
}

/** The lines to send again after a resume, under the same ids, so that a line that did arrive is not duplicated. */
export function unacknowledged(log: ChatLog): readonly Chat[] {
  return log
    .filter((entry) => entry.status === 'sending')
    .map(({ id, text }) => ({ type: 'chat', id, text }));
}

/** The last acknowledged lines, each with its proof, for `resume`; fewer if they are long. */
export function lastLines(log: ChatLog): ResumeChatLine[] {
  const lines: ResumeChatLine[] = [];
  let bytes = 0;
  for (const { id, from, name, text, at, status, proof } of log.toReversed()) {
    if (status !== 'acknowledged' || proof === undefined) continue;
    const line = { id, from, name, text, at, proof };
    bytes += new TextEncoder().encode(JSON.stringify(line)).length;
    if (lines.length === RESUMED_LINES || bytes > RESUMED_BYTES) break;
    lines.push(line);
  }
  return lines.toReversed();
}

function insert(log: ChatLog, entry: ChatEntry): ChatLog {
  const others = log.filter((other) => other.id !== entry.id);
  // New lines nearly always belong at the end: the search starts there.
  let place = others.length;
  while (place > 0 && (others[place - 1]?.at ?? 0) > entry.at) place -= 1;
  return [...others.slice(0, place), entry, ...others.slice(place)].slice(-KEPT_LINES);
}
