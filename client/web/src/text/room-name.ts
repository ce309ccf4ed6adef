/** The name of a room as a part of its link. */

const MAX_CHARS = 48;

/**
 * Converts text to a name that the service accepts (ROOM-1): letters without their accents, digits and single inner dashes, at most 48 characters. A dash may
 * still be the last one, as more may be typed after it. Empty where the text has no such letter or digit.
 */
export function roomName(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, MAX_CHARS);
}
