/** A page that reads a camera as a browser without frame readers does. */
import { pageMedia } from '@parley/sdk/page-media';

declare global {
  var watching: typeof handles;
}

let pictures = new Set<number>();
const handles = {
  async start(): Promise<() => void> {
    const stream = await navigator.mediaDevices.getUserMedia({ video: true });
    const [track] = stream.getVideoTracks();
    const paint = new OffscreenCanvas(64, 36).getContext('2d', { willReadFrequently: true });
    if (track === undefined || paint === null) throw new Error('no camera');
    const reader = pageMedia.readVideo(track, (frame) => {
      paint.drawImage(frame, 0, 0, 64, 36);
      frame.close();
      const { data } = paint.getImageData(0, 0, 64, 36);
      pictures.add(data.reduce((hash, value) => (Math.imul(hash, 31) + value) | 0, 0));
    });
    return () => reader.close();
  },
  stop: (): void => undefined,
  /** The number of different pictures since the previous call. */
  different(): number {
    const { size } = pictures;
    pictures = new Set();
    return size;
  },
};
globalThis.watching = handles;
