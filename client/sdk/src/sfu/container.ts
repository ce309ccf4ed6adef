/** Converts received bytes to the input of decoders, by the container that the catalog names. */
import { readFragment, readHeader, type CmafTrack } from './cmaf.ts';
import type { Container } from './catalog.ts';
import { decodeFrame, type Frame } from './frames.ts';

/** No frames for data that is not of that container. Never throws. */
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

/** The schema of the catalog allows truncated base64. */
function headerIn(init: string): CmafTrack | undefined {
  try {
    return readHeader(Uint8Array.from(atob(init), (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
