/** Images that may be decoded: measured before a browser decodes them. */
import type { Bench } from './bench.ts';
import { cleanStyle } from './clean-style.ts';
import { dataBytes, dataUrl } from './data-url.ts';
import { imageSize, type ImageFormat } from './image-size.ts';
import { SHOWN, type TooMuch } from './limits.ts';
import { weight } from './weight.ts';

export interface Picture {
  readonly type: ImageFormat | 'image/svg+xml';
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** 0 for an SVG without images: it is rendered at its display size. */
  readonly pixels: number;
}

/** `null` if the bytes are not a known image format. */
export function measuredPicture(bytes: Uint8Array<ArrayBuffer>, bench: Bench): Picture | TooMuch | null {
  const size = imageSize(bytes);
  if (size === null) return drawing(bytes, bench);
  const pixels = size.width * size.height;
  return pixels > SHOWN.imagePixels ? 'pixels' : { type: size.format, bytes, pixels };
}

/** Animations may change a name after this check. */
const NOT_DRAWN = /^(?:script|foreignObject|set|animate\w*|discard)$/i;

/** SVG, only for `<img>`, in which browsers run no scripts and load nothing. */
function drawing(bytes: Uint8Array<ArrayBuffer>, bench: Bench): Picture | TooMuch | null {
  if (bytes.length > SHOWN.svgBytes) return looksDrawn(bytes) ? 'markup' : null;
  if (!looksDrawn(bytes)) return null;
  const source = new TextDecoder().decode(bytes);
  // Entities may be nested, like parts of a drawing, and the parser itself expands them.
  if (/<!ENTITY/i.test(source)) return 'markup';
  const { documentElement: root } = new bench.DOMParser().parseFromString(source, 'image/svg+xml');
  if (root.localName !== 'svg' || root.querySelector('parsererror') !== null) return null;
  let pixels = 0;
  for (const element of root.querySelectorAll('*')) {
    if (NOT_DRAWN.test(element.localName)) element.remove();
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
  if (weight(root) > SHOWN.elements) return 'elements';
  if (pixels > SHOWN.imagePixels) return 'pixels';
  const cleaned = new TextEncoder().encode(new bench.XMLSerializer().serializeToString(root));
  return { type: 'image/svg+xml', bytes: cleaned, pixels };
}

/** Comments and a document type may come first. */
const LOOKED_AT = 4096;
const looksDrawn = (bytes: Uint8Array): boolean =>
  /<(?:\w+:)?svg[\s>]/i.test(new TextDecoder().decode(bytes.subarray(0, LOOKED_AT)));

/** For `<img>`. A `blob:` URL of an SVG, opened in its own tab, would be a document of our origin. */
export const drawingUrl = ({ type, bytes }: Picture): string => dataUrl(type, bytes);
