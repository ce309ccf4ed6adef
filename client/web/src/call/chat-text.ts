/** Groups chat lines by author, and finds links. */
import type { ChatEntry } from '@parley/sdk/call';

export interface ChatGroup {
  readonly name: string;
  readonly mine: boolean;
  readonly at: number;
  readonly entries: readonly ChatEntry[];
}

/** A pause of this length starts a new group, so that the displayed time stays accurate. */
const GROUP_MS = 180_000;

export function chatGroups(entries: readonly ChatEntry[]): readonly ChatGroup[] {
  const groups: (ChatGroup & { entries: ChatEntry[]; from: string; last: number })[] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    if (group && group.from === entry.from && group.name === entry.name && entry.at - group.last < GROUP_MS) {
      group.entries.push(entry);
      group.last = entry.at;
    } else {
      const { name, mine, at, from } = entry;
      groups.push({ name, mine, at, from, last: at, entries: [entry] });
    }
  }
  return groups;
}

export interface TextPart {
  readonly text: string;
  readonly link: boolean;
}

/** Only http and https become links; trailing punctuation belongs to the sentence. */
const LINK = /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]}'…]/g;

export function textParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(LINK)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), link: false });
    parts.push({ text: match[0], link: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), link: false });
  return parts;
}
