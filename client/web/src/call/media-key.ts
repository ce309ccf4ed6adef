/** The end-to-end key of a room, in the fragment of its link: browsers send it to no server. */
import { newSecret, readSecret, SECRET_BYTES } from '@parley/sdk/sfu/secret';

const FRAGMENT = /[#&]key=([\w-]+)/;

/** The key in a link or in its fragment; `null` if it is missing or damaged. */
export function mediaKeyIn(text: string): string | null {
  const key = FRAGMENT.exec(text)?.[1];
  return key !== undefined && readSecret(key) !== undefined ? key : null;
}

export const newMediaKey = (): string => newSecret(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));

export const keyFragment = (key: string | null): string => (key === null ? '' : `#key=${key}`);
