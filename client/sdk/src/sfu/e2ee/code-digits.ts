/** The digits that participants compare. SPEC rules MEDIA-27, MEDIA-30. */
import { toHex } from '../../pages/base64.ts';

/** Stretches the code: two pairs of keys with one code take 2^33 trials, each of so many hashes. */
const ITERATIONS = 250_000;
const DIGITS = 20;
const BYTES = 16;

/** Twenty digits that stand for a text, in groups of five: the last ones of PBKDF2-HMAC-SHA-256 as a decimal number. */
export async function codeDigits(subtle: SubtleCrypto, text: string, salt: BufferSource): Promise<string> {
  const all = await subtle.importKey('raw', new TextEncoder().encode(text), 'PBKDF2', false, ['deriveBits']);
  const stretch = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ITERATIONS };
  const bytes = new Uint8Array(await subtle.deriveBits(stretch, all, 8 * BYTES));
  const digits = BigInt(`0x${toHex(bytes)}`)
    .toString()
    .padStart(DIGITS, '0')
    .slice(-DIGITS);
  return digits.replace(/\d{5}(?!$)/g, '$& ');
}
