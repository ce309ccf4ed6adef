/** Styles without anything that names a file: nothing is to be fetched, and pictures in styles would not be measured. */
import { SHOWN } from './limits.ts';

/** Empty where it is too long. */
export function cleanStyle(css: string): string {
  if (css.length > SHOWN.style) return '';
  return (
    plain(css)
      // Nothing may end the style sheet early. First: what it stood between comes together.
      .replaceAll('<', '')
      .replaceAll(/(?:url\s*\((?!\s*["']?#)|(?:src|image|image-set|cross-fade|element|paint)\s*\()/gi, 'off(')
      .replaceAll(/@import/gi, '@off')
  );
}

/** Escapes hide names. Those of letters beyond ASCII are kept as the letters themselves. */
function plain(css: string): string {
  return css
    .replaceAll(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code >= 0xa0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
    })
    .replaceAll(/\\[\s"'\\]?/g, '');
}
