/** What is on the wire into what decoders take, by the container that the catalog names. */
import { readFragment, readHeader, type CmafTrack } from './cmaf.ts';
import type { Container } from './catalog.ts';
import { decodeFrame, type Frame } from './frames.ts';

/** None for whatever is not of that container. Never throws. */
export type Unpack = (bytes: Uint8Array) => readonly Frame[];

export function unpackerOf(container: Container): Unpack {
  if (container.kind === 'legacy') {
    return (bytes) => {
      const frame = decodeFrame(bytes);
      return frame === undefined ? [] : [frame];
    };
  }
  const track = headerIn(container.init);
  return (bytes) => (track === undefined ? [] : readFragment(bytes, track));
}

/** The catalog's form allows base64 that is cut off. */
function headerIn(init: string): CmafTrack | undefined {
  try {
    return readHeader(Uint8Array.from(atob(init), (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
