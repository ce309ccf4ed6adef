/**
 * What people send each other: `{"k":"o","n":"0000002a","pad":"…"}`, a JSON value of an exact length, so that the naive reference can parse
 * it and the others pass it on. `k` is the kind, `n` counts from one sender to one reader. The reader compares every byte.
 */
export type Kind = 'offer' | 'answer' | 'candidate' | 'message';

export const BYTES: Readonly<Record<Kind, number>> = {
  offer: 2500,
  answer: 2500,
  candidate: 180,
  message: 2000,
};

const LETTERS: Readonly<Record<Kind, string>> = {
  offer: 'o',
  answer: 'a',
  candidate: 'c',
  message: 'm',
};
const KIND_OF: Readonly<Record<string, Kind>> = { o: 'offer', a: 'answer', c: 'candidate', m: 'message' };
const KIND_AT = '{"k":"'.length;
const HEAD_BYTES = '{"k":"o","n":"00000000'.length;

/** The part that differs from message to message. */
export const headOf = (kind: Kind, count: number): string =>
  `{"k":"${LETTERS[kind]}","n":"${count.toString(16).padStart(8, '0')}`;

/** The part that is the same in every message of its kind: some letters, so that a shifted copy is noticed. */
export function tailOf(kind: Kind): string {
  const pad = BYTES[kind] - HEAD_BYTES - '","pad":"'.length - '"}'.length;
  const letters = Array.from({ length: pad }, (_, at) =>
    String.fromCharCode(97 + ((at * 31 + Math.floor(at / 7)) % 26)),
  );
  return `","pad":"${letters.join('')}"}`;
}

const TAILS: Readonly<Record<Kind, Buffer>> = {
  offer: Buffer.from(tailOf('offer')),
  answer: Buffer.from(tailOf('answer')),
  candidate: Buffer.from(tailOf('candidate')),
  message: Buffer.from(tailOf('message')),
};

/** Which kind a payload claims to be. */
export const kindOf = (bytes: Buffer, start: number): Kind | undefined =>
  KIND_OF[String.fromCharCode(bytes[start + KIND_AT] ?? 0)];

/** Whether `bytes[start, end)` is exactly message `count` of its kind: length, counter and every byte. */
export function isIntact(kind: Kind, count: number, bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== BYTES[kind]) return false;
  if (bytes.toString('latin1', start, start + HEAD_BYTES) !== headOf(kind, count)) return false;
  const tail = TAILS[kind];
  return bytes.compare(tail, 0, tail.length, start + HEAD_BYTES, end) === 0;
}
