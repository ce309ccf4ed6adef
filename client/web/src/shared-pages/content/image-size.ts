/**
 * Reads the dimensions of an image from its headers, before a browser decodes it: a few kilobytes of a file can become gigabytes of pixels. The npm
 * packages `image-size` and `probe-image-size` do not fit: they return the size for layout, of a GIF that of the canvas without its frames, of an
 * AVIF that of one item, less a crop that the file chooses. A limit needs the largest.
 */

export type ImageFormat = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

export interface ImageSize {
  /** Detected from the bytes, as browsers do, not from the declared type. */
  readonly format: ImageFormat;
  readonly width: number;
  readonly height: number;
}

type Bytes = Uint8Array<ArrayBuffer>;
type Size = readonly [width: number, height: number];

const READERS: readonly (readonly [ImageFormat, (bytes: Bytes, view: DataView) => Size | null])[] = [
  ['image/png', png],
  ['image/gif', gif],
  ['image/jpeg', jpeg],
  ['image/webp', webp],
  ['image/avif', avif],
];

/** `null` if the format is unknown or the header is broken. */
export function imageSize(bytes: Bytes): ImageSize | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const [format, read] of READERS) {
    const size = sizeOf(() => read(bytes, view));
    if (size !== null && size[0] > 0 && size[1] > 0) return { format, width: size[0], height: size[1] };
  }
  return null;
}

/** A read beyond the end of the bytes throws. */
function sizeOf(read: () => Size | null): Size | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const hasText = (bytes: Bytes, at: number, text: string): boolean =>
  Array.from(text).every((char, index) => bytes[at + index] === char.charCodeAt(0));

function png(bytes: Bytes, view: DataView): Size | null {
  return hasText(bytes, 0, '\u0089PNG\r\n\u001a\n') ? [view.getUint32(16), view.getUint32(20)] : null;
}

/** The largest of the canvas and all frames, because a frame may exceed the canvas. */
function gif(bytes: Bytes, view: DataView): Size | null {
  if (!hasText(bytes, 0, 'GIF87a') && !hasText(bytes, 0, 'GIF89a')) return null;
  const u16 = (at: number): number => view.getUint16(at, true);
  const colours = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1));
  const behindBlocks = (at: number): number => {
    let next = at;
    while ((bytes[next] ?? 0) > 0) next += 1 + view.getUint8(next);
    return next + 1;
  };
  let width = u16(6);
  let height = u16(8);
  let at = 13 + colours(view.getUint8(10));
  while (at < bytes.length) {
    if (bytes[at] === 0x21) at = behindBlocks(at + 2);
    else if (bytes[at] === 0x2c) {
      width = Math.max(width, u16(at + 1) + u16(at + 5));
      height = Math.max(height, u16(at + 3) + u16(at + 7));
      at = behindBlocks(at + 11 + colours(view.getUint8(at + 9)));
    } else break;
  }
  return [width, height];
}

/** The frame header is one of the markers SOF0 to SOF15, except for three that have another meaning. */
function jpeg(bytes: Bytes, view: DataView): Size | null {
  if (!hasText(bytes, 0, '\u00ff\u00d8\u00ff')) return null;
  let at = 2;
  for (;;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      // A height of 0 means that it follows later, within the image.
      return [view.getUint16(at + 7), view.getUint16(at + 5) || 0xffff];
    else if (marker === 0xda || marker === 0xd9) return null;
    else at += 2 + view.getUint16(at + 2);
  }
}

function webp(bytes: Bytes, view: DataView): Size | null {
  if (!hasText(bytes, 0, 'RIFF') || !hasText(bytes, 8, 'WEBP')) return null;
  const u24 = (at: number): number => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  if (hasText(bytes, 12, 'VP8X')) return [u24(24) + 1, u24(27) + 1];
  if (hasText(bytes, 12, 'VP8L')) {
    const bits = view.getUint32(21, true);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
}

/** The largest of all `ispe` boxes, wherever they are: an image may consist of tiles. */
function avif(bytes: Bytes, view: DataView): Size | null {
  if (!hasText(bytes, 4, 'ftypavi')) return null;
  let largest: Size | null = null;
  for (let at = bytes.indexOf(0x69, 12); at >= 0; at = bytes.indexOf(0x69, at + 1)) {
    if (!hasText(bytes, at, 'ispe')) continue;
    const size = [view.getUint32(at + 8), view.getUint32(at + 12)] as const;
    if (largest === null || size[0] * size[1] > largest[0] * largest[1]) largest = size;
  }
  return largest;
}
