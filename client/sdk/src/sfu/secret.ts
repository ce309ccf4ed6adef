/** The secret of an end-to-end key as it is written in a link. Apart from what it does, so that a page can tell a good one without loading that. */

/** As many random bytes as the keys have that are made of it. */
export const SECRET_BYTES = 16;

/** `undefined` where it is none: exactly `SECRET_BYTES`, base64url. */
export function readSecret(secret: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]{22}$/.test(secret)) return undefined;
  const bytes = Uint8Array.from(atob(secret.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
    char.charCodeAt(0),
  );
  return bytes.byteLength === SECRET_BYTES ? bytes : undefined;
}

export function newSecret(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
