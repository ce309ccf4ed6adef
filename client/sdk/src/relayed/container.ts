/** What is on the wire into what decoders take, by the container that the catalog names. */
import { readFragment, readHeader } from './cmaf.ts';
import type { Container } from './catalog.ts';
import { decodeFrame, type Frame } from './frames.ts';

/** None for whatever is not of that container. */
export type Unpack = (bytes: Uint8Array) => readonly Frame[];

export function unpackerOf(container: Container): Unpack {
  if (container.kind === 'legacy') {
    return (bytes) => {
      const frame = decodeFrame(bytes);
      return frame === undefined ? [] : [frame];
    };
  }
  const track = readHeader(Uint8Array.from(atob(container.init), (char) => char.charCodeAt(0)));
  return (bytes) => (track === undefined ? [] : readFragment(bytes, track));
}
