/** Images that may be decoded: measured before a browser decodes them. */
import type { ParserWindow } from './parser-frame.ts';
import { cleanStyle } from './clean-style.ts';
import { dataBytes, dataUrl } from './data-url.ts';
import { imageSize, type ImageFormat } from './image-size.ts';
import { RENDER_LIMITS, type FallbackReason } from './limits.ts';
import { countDrawnElements } from './drawn-elements.ts';

export interface CheckedImage {
  readonly type: ImageFormat | 'image/svg+xml';
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** 0 for an SVG without images: it is rendered at its display size. */
  readonly pixels: number;
}

/** `null` if the bytes are not a known image format. */
export function checkedImage(
  bytes: Uint8Array<ArrayBuffer>,
  parser: ParserWindow,
): CheckedImage | FallbackReason | null {
  const size = imageSize(bytes);
  if (size === null) return svg(bytes, parser);
  const pixels = size.width * size.height;
  return pixels > RENDER_LIMITS.imagePixels ? 'pixels' : { type: size.format, bytes, pixels };
}

/** Animations may change a name after this check. */
const REMOVED_ELEMENTS = /^(?:script|foreignObject|set|animate\w*|discard)$/i;

/** SVG, only for `<img>`, in which browsers run no scripts and load nothing. */
function svg(bytes: Uint8Array<ArrayBuffer>, parser: ParserWindow): CheckedImage | FallbackReason | null {
  if (bytes.length > RENDER_LIMITS.svgBytes) return looksLikeSvg(bytes) ? 'markup' : null;
  if (!looksLikeSvg(bytes)) return null;
  const source = new TextDecoder().decode(bytes);
  // Entities may be nested, like parts of a drawing, and the parser itself expands them.
  if (/<!ENTITY/i.test(source)) return 'markup';
  const { documentElement: root } = new parser.DOMParser().parseFromString(source, 'image/svg+xml');
  if (root.localName !== 'svg' || root.querySelector('parsererror') !== null) return null;
  let pixels = 0;
  for (const element of root.querySelectorAll('*')) {
    if (REMOVED_ELEMENTS.test(element.localName)) element.remove();
    if (element.localName === 'style') element.textContent = cleanStyle(element.textContent);
    for (const { name, value } of Array.from(element.attributes)) {
      if (name === 'style') element.setAttribute(name, cleanStyle(value));
      // Escapes hide names.
      else if (value.includes('\\')) element.removeAttribute(name);
      else if (/(?:^|:)href$/.test(name) && !/^\s*#/.test(value)) {
        const size = imageSize(dataBytes(value) ?? new Uint8Array());
        pixels += size === null ? 0 : size.width * size.height;
        if (size === null) element.removeAttribute(name);
      }
    }
  }
  if (countDrawnElements(root) > RENDER_LIMITS.elements) return 'elements';
  if (pixels > RENDER_LIMITS.imagePixels) return 'pixels';
  const cleaned = new TextEncoder().encode(new parser.XMLSerializer().serializeToString(root));
  return { type: 'image/svg+xml', bytes: cleaned, pixels };
}

/** Comments and a document type may come first. */
const SNIFFED_BYTES = 4096;
const looksLikeSvg = (bytes: Uint8Array): boolean =>
  /<(?:\w+:)?svg[\s>]/i.test(new TextDecoder().decode(bytes.subarray(0, SNIFFED_BYTES)));

/** For `<img>`. A `blob:` URL of an SVG, opened in its own tab, would be a document of our origin. */
export const imageUrl = ({ type, bytes }: CheckedImage): string => dataUrl(type, bytes);
