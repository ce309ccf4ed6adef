/**
 * What people send each other, in the sizes of real calls: `{"k":"o","n":"0","t":"1795267473374","pad":"…"}`. `k` is the kind, `n` counts
 * from one sender to one reader, `t` is when it was sent. The reader compares every byte.
 */
export type Kind = 'offer' | 'answer' | 'candidate';

export interface Signal {
  readonly kind: Kind;
  readonly count: number;
  readonly sentAt: number;
}

export const BYTES: Readonly<Record<Kind, number>> = { offer: 2500, answer: 2500, candidate: 180 };
/** What a browser with STUN and TURN over UDP, TCP and TLS finds. */
export const CANDIDATES = 6;
/** A description and its candidates. */
export const SIGNALS = 1 + CANDIDATES;

const KIND_OF: Readonly<Record<string, Kind>> = { o: 'offer', a: 'answer', c: 'candidate' };
const LETTER_AT = '{"k":"'.length;
const HEAD = /^\{"k":"([oac])","n":"(\d)","t":"(\d{13})$/;
const HEAD_CHARS = '{"k":"o","n":"0","t":"1795267473374'.length;

const TAILS: Readonly<Record<Kind, string>> = {
  offer: tailOf('offer'),
  answer: tailOf('answer'),
  candidate: tailOf('candidate'),
};

export function writeSignal({ kind, count, sentAt }: Signal): string {
  return `{"k":"${kind.charAt(0)}","n":"${count}","t":"${sentAt}${TAILS[kind]}`;
}

/** Reads a payload; `undefined` where one byte is not as it was written. */
export function readSignal(text: string): Signal | undefined {
  const kind = KIND_OF[text.charAt(LETTER_AT)];
  const head = HEAD.exec(text.slice(0, HEAD_CHARS));
  if (kind === undefined || head === null || text.slice(HEAD_CHARS) !== TAILS[kind]) return undefined;
  return { kind, count: Number(head[2]), sentAt: Number(head[3]) };
}

/** The same in every message of its kind; its letters do not repeat, so that a shifted copy is noticed. */
function tailOf(kind: Kind): string {
  return paddedTail(BYTES[kind] - HEAD_CHARS);
}

function paddedTail(bytes: number): string {
  const chars = bytes - '","pad":"'.length - '"}'.length;
  let pad = '';
  for (let at = 0; at < chars; at += 1)
    pad += String.fromCharCode(97 + ((at * 31 + Math.floor(at / 7)) % 26));
  return `","pad":"${pad}"}`;
}

/** A message of a call that goes on: `{"n":"000012","t":"1795267473374","pad":"…"}`, of the size of some candidates together. */
export interface Line {
  readonly count: number;
  readonly sentAt: number;
}

const LINE_BYTES = 1000;
const LINE_HEAD = /^\{"n":"(\d{6})","t":"(\d{13})$/;
const LINE_HEAD_CHARS = '{"n":"000012","t":"1795267473374'.length;
const LINE_TAIL = paddedTail(LINE_BYTES - LINE_HEAD_CHARS);

export function writeLine({ count, sentAt }: Line): string {
  return `{"n":"${String(count).padStart(6, '0')}","t":"${sentAt}${LINE_TAIL}`;
}

/** Reads a line; `undefined` where one byte is not as it was written. */
export function readLine(text: string): Line | undefined {
  const head = LINE_HEAD.exec(text.slice(0, LINE_HEAD_CHARS));
  if (head === null || text.slice(LINE_HEAD_CHARS) !== LINE_TAIL) return undefined;
  return { count: Number(head[1]), sentAt: Number(head[2]) };
}
