/** The last messages of a topic of text, bounded in number and length. */

export interface Line {
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Text, or the first bytes in hex. */
  readonly text: string;
  readonly bytes: number;
  readonly binary: boolean;
  readonly cut: boolean;
}

/** As many as one or two screens show. */
export const LINES = 200;
export const MAX_LINE_CHARS = 2000;
const SHOWN_BYTES = 24;

export class Lines {
  #ring: Line[] = [];
  #next = 0;

  push(message: string | Uint8Array, { at, bytes }: { readonly at: number; readonly bytes: number }): void {
    const number = this.#next++;
    this.#ring[number % LINES] =
      typeof message === 'string'
        ? { number, at, bytes, binary: false, ...shortened(message) }
        : {
            number,
            at,
            bytes,
            binary: true,
            text: hex(message.subarray(0, SHOWN_BYTES)),
            cut: message.length > SHOWN_BYTES,
          };
  }

  /** Oldest first. */
  read(): readonly Line[] {
    const at = this.#next % LINES;
    return this.#next < LINES ? this.#ring.slice() : [...this.#ring.slice(at), ...this.#ring.slice(0, at)];
  }
}

function shortened(text: string): { readonly text: string; readonly cut: boolean } {
  if (text.length <= MAX_LINE_CHARS) return { text, cut: false };
  // A substring keeps the whole string in memory; a copy through bytes does not.
  const copy = new TextDecoder().decode(new TextEncoder().encode(text.slice(0, MAX_LINE_CHARS)));
  return { text: copy, cut: true };
}

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');

export interface HexRow {
  readonly offset: string;
  readonly hex: string;
  readonly text: string;
}

const ROW_BYTES = 16;

export function hexRows(bytes: Uint8Array): readonly HexRow[] {
  return Array.from({ length: Math.ceil(bytes.length / ROW_BYTES) }, (_, row) => {
    const part = bytes.subarray(row * ROW_BYTES, (row + 1) * ROW_BYTES);
    return {
      offset: (row * ROW_BYTES).toString(16).padStart(4, '0'),
      hex: hex(part),
      text: Array.from(part, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCodePoint(byte) : '·')).join(
        '',
      ),
    };
  });
}
