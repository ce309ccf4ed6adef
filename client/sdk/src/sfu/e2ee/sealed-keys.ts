/** What is encrypted in a `key` message: one key or two of its sender, each with its number, and the page that they are of. SPEC rule MEDIA-27. */

/** A key of a sender, and its number. */
export interface NumberedKey {
  readonly number: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export const KEY_BYTES = 16;
const NUMBER_BYTES = 4;
const MAX_KEYS = 2;

export function writeKeys(keys: readonly NumberedKey[], instance: string): Uint8Array<ArrayBuffer> {
  const written = keys.flatMap(({ number, bytes }) => [...uint32(number), ...bytes]);
  return new Uint8Array([keys.length, ...written, ...new TextEncoder().encode(instance)]);
}

/** Throws for anything else. */
export function readKeys(plain: ArrayBuffer): {
  readonly keys: readonly NumberedKey[];
  readonly instance: string;
} {
  const view = new DataView(plain);
  const count = view.getUint8(0);
  if (count < 1 || count > MAX_KEYS) throw new Error('too many keys');
  const each = NUMBER_BYTES + KEY_BYTES;
  const keys = Array.from({ length: count }, (_, nth) => {
    const at = 1 + nth * each;
    return { number: view.getUint32(at), bytes: new Uint8Array(plain, at + NUMBER_BYTES, KEY_BYTES) };
  });
  return { keys, instance: new TextDecoder().decode(plain.slice(1 + count * each)) };
}

function uint32(value: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(NUMBER_BYTES));
  view.setUint32(0, value);
  return new Uint8Array(view.buffer);
}
