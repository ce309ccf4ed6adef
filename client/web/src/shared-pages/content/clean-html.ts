/**
 * Sanitizes HTML of visitors before it is shown in a frame that would contain it too (`policy.ts`). No policy blocks some of it: `<link
 * rel=preconnect>` reveals the reader to a third party, and a link that is blocked should not look like one. Decompression bombs are detected here
 * too.
 */
import createPurifier from 'dompurify';
import type { ParserWindow } from './parser-frame.ts';
import { cleanStyle } from './clean-style.ts';
import { dataBytes, dataUrl } from './data-url.ts';
import { RENDER_LIMITS, markupTooLong, type FallbackReason } from './limits.ts';
import { CONTENT_POLICY } from './content-policy.ts';
import { checkedImage } from './checked-image.ts';
import { countDrawnElements } from './drawn-elements.ts';

export interface Cleaned {
  readonly srcdoc: string;
  /** The number of disabled links, and of images that are external or too large. */
  readonly links: number;
  readonly images: number;
}

/** `template` too: its content is not part of the document, so that the code below would not see it. */
const PURIFY = {
  IN_PLACE: true,
  WHOLE_DOCUMENT: true,
  USE_PROFILES: { html: true, svg: true, mathMl: true },
  FORBID_TAGS:
    'form input button textarea select option optgroup datalist fieldset output meter progress audio video source track picture map area dialog image template'.split(
      ' ',
    ),
  ALLOW_DATA_ATTR: false,
};

/** `style`: the style of the application, which comes before that of the page. */
export function cleanHtml(html: string, parser: ParserWindow, style: string): Cleaned | FallbackReason {
  if (markupTooLong(html)) return 'markup';
  const document = parse(html, parser);
  if (document.getElementsByTagName('*').length > RENDER_LIMITS.elements || tooDeep(document))
    return 'elements';
  restoreFormats(document);
  createPurifier(parser).sanitize(document.documentElement, PURIFY);
  if (countDrawnElements(document.documentElement) > RENDER_LIMITS.elements) return 'elements';
  const off = disableReferences(document, parser);
  document.head.prepend(...head(document, style));
  return { srcdoc: `<!doctype html>${document.documentElement.outerHTML}`, ...off };
}

/**
 * Formatting elements that a parser reopens in every paragraph if they are left open, so that a few thousand become millions: the parser gets other
 * names, and the elements are restored where they were written.
 */
const FORMATS = 'a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u';
const FORMAT_TAG = new RegExp(String.raw`<(/?)(${FORMATS})(?=[\s/>])`, 'gi');
const RENAMED = new RegExp(`^x-(?:${FORMATS})$`);

function parse(html: string, parser: ParserWindow): Document {
  return new parser.DOMParser().parseFromString(html.replaceAll(FORMAT_TAG, '<$1x-$2'), 'text/html');
}

function tooDeep(document: Document): boolean {
  const pending: (readonly [Element, number, number])[] = [[document.documentElement, 1, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [element, depth, formats] = next;
    const inside = formats + (RENAMED.test(element.localName) ? 1 : 0);
    if (depth > RENDER_LIMITS.depth || inside > RENDER_LIMITS.formats) return true;
    for (const child of element.children) pending.push([child, depth + 1, inside]);
  }
  return false;
}

function restoreFormats(document: Document): void {
  for (const element of document.querySelectorAll('*')) {
    if (!RENAMED.test(element.localName)) continue;
    const restored = document.createElementNS(element.namespaceURI, element.localName.slice(2));
    for (const attribute of element.attributes) restored.setAttributeNode(attribute.cloneNode() as Attr);
    while (element.firstChild) restored.append(element.firstChild);
    element.replaceWith(restored);
  }
}

/** Attributes that name a file. `href` and `src` are checked separately. */
const NAMES_A_FILE = new Set(
  'action background cite classid codebase data dynsrc formaction icon imagesrcset longdesc lowsrc manifest ping poster profile srcset usemap'.split(
    ' ',
  ),
);

function disableReferences(
  document: Document,
  parser: ParserWindow,
): { readonly links: number; readonly images: number } {
  const off = { links: 0, images: 0 };
  let pixels = 0;
  for (const element of document.querySelectorAll('*')) {
    for (const { name, value } of Array.from(element.attributes)) {
      if (name === 'style') element.setAttribute(name, cleanStyle(value));
      else if (/(?:^|:)href$/.test(name)) {
        element.removeAttribute(name);
        if (element.localName !== 'a') continue;
        off.links += 1;
        element.setAttribute('title', `Links are disabled: ${value.slice(0, MAX_TITLE_CHARS)}`);
        element.setAttribute('class', `${element.getAttribute('class') ?? ''} parley-link`.trim());
      } else if (name === 'src') {
        const picture = element.localName === 'img' ? embedded(value, parser) : null;
        if (picture !== null && pixels + picture.pixels <= RENDER_LIMITS.documentPixels) {
          pixels += picture.pixels;
          element.setAttribute(name, picture.url);
        } else {
          off.images += 1;
          element.removeAttribute(name);
        }
      } else if (NAMES_A_FILE.has(name) || namesAFile(value, element)) element.removeAttribute(name);
    }
    if (element.localName === 'style') element.textContent = cleanStyle(element.textContent);
  }
  return off;
}

/** Attributes of SVG are styles, in which escapes hide names. */
const namesAFile = (value: string, { namespaceURI }: Element): boolean =>
  /url\s*\((?!\s*["']?#)/i.test(value) || (namespaceURI === SVG && value.includes('\\'));

const SVG = 'http://www.w3.org/2000/svg';
const MAX_TITLE_CHARS = 300;

/** An image embedded in the document, if it may be decoded. */
function embedded(
  url: string,
  parser: ParserWindow,
): { readonly url: string; readonly pixels: number } | null {
  const bytes = dataBytes(url);
  const picture = bytes && checkedImage(bytes, parser);
  if (picture === null || typeof picture === 'string') return null;
  return { url: dataUrl(picture.type, picture.bytes), pixels: picture.pixels };
}

function* head(document: Document, style: string): Generator<Element> {
  const made = (name: string, attributes: Readonly<Record<string, string>>, text = ''): Element => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };
  yield made('meta', { charset: 'utf-8' });
  yield made('meta', { 'http-equiv': 'Content-Security-Policy', content: CONTENT_POLICY });
  yield made('meta', { name: 'referrer', content: 'no-referrer' });
  yield made('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' });
  yield made('style', {}, style);
}
