/** Computes hashes synchronously, so that a fake clock does not run ahead of them; all other methods are those of Node. */
import { createHash } from 'node:crypto';

export function instantSubtle(): SubtleCrypto {
  const real = crypto.subtle;
  return {
    digest: (_: string, bytes: Uint8Array<ArrayBuffer>) =>
      Promise.resolve(new Uint8Array(createHash('sha256').update(bytes).digest()).buffer),
    importKey: real.importKey.bind(real),
    deriveKey: real.deriveKey.bind(real),
    encrypt: real.encrypt.bind(real),
    decrypt: real.decrypt.bind(real),
  } as unknown as SubtleCrypto;
}
