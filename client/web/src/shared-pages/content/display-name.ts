/** A name that a stranger gave a page or a file, as it is shown. */

/** Characters that mislead or are invisible: bidirectional controls, zero-width and control characters. */
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/g;

export const displayName = (name: string): string =>
  name.replaceAll(/\s+/g, ' ').replaceAll(INVISIBLE, '').trim();
