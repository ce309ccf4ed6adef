/**
 * The random id by which a ban recognises this browser (SPEC rule MOD-8). It says nothing about the person or the device, is known to the
 * service only as a hash that differs in every room, and is gone with the site's data.
 */
import { browserStore } from './storage.ts';

const DEVICE = 'parley.device-id';
const FORM = /^[A-Za-z0-9_-]{16,64}$/;
/** 128 bits: nobody else has it, and nobody guesses it. */
const BYTES = 16;

/** Where nothing can be stored it lasts as long as the page. */
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
