/** The secret of an end-to-end key in a link. Separate from its use, so that a page can check a secret without loading that code. */

/** As many random bytes as the derived keys have. */
export const SECRET_BYTES = 16;

/** `undefined` unless it is exactly `SECRET_BYTES` bytes in base64url. */
export function readSecret(secret: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]{22}$/.test(secret)) return undefined;
  const bytes = Uint8Array.from(atob(secret.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
    char.charCodeAt(0),
  );
  return bytes.byteLength === SECRET_BYTES ? bytes : undefined;
}

/** A key in base64url, without padding. `bytes`: 16 random ones; any other number makes no valid key. */
export function newSecret(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
