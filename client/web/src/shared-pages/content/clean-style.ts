/** Removes everything from styles that names a file: nothing may be fetched, and images in styles would not be measured. */
import { RENDER_LIMITS } from './limits.ts';

/** Empty if the style is too long. */
export function cleanStyle(css: string): string {
  if (css.length > RENDER_LIMITS.style) return '';
  return (
    plain(css)
      // Nothing may end the style element early. Removed first, because a removal joins the text around it.
      .replaceAll('<', '')
      .replaceAll(/(?:url\s*\((?!\s*["']?#)|(?:src|image|image-set|cross-fade|element|paint)\s*\()/gi, 'off(')
      .replaceAll(/@import/gi, '@off')
  );
}

/** Resolves escapes, which hide names. Those of letters beyond ASCII become the letters. */
function plain(css: string): string {
  return css
    .replaceAll(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code >= 0xa0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
    })
    .replaceAll(/\\[\s"'\\]?/g, '');
}
