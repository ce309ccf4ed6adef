/**
 * The random id by which a ban recognizes this browser (SPEC rule MOD-8). It has no information about the user or the device, the service knows
 * only a hash that differs in every room, and it is deleted with the site's data.
 */
import { browserStore } from './storage.ts';

const DEVICE = 'parley.device-id';
const FORM = /^[A-Za-z0-9_-]{16,64}$/;
/** 128 bits: unique and not guessable. */
const BYTES = 16;

/** Without storage the id lasts as long as the page. */
let unstored: string | undefined;

export function deviceId(): string {
  const known = browserStore.read(DEVICE) ?? unstored;
  if (known !== undefined && FORM.test(known)) return known;
  unstored = [...crypto.getRandomValues(new Uint8Array(BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  browserStore.write(DEVICE, unstored);
  return unstored;
}
