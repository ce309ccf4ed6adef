/**
 * Reads and writes video frames of tracks with the page's elements, for browsers without a better API: Firefox and Safari. Passed to
 * `browserPorts` by a page; a worker has no elements, and its rooms stay in the mesh.
 */
import type { Closeable, PageMedia, PictureSink } from './sfu/media-ports.ts';

/** For `browserPorts`, in a page. */
export const pageMedia: PageMedia = { readVideo: watchVideo, createPicture: paintPicture };

function watchVideo(track: MediaStreamTrack, onFrame: (frame: VideoFrame) => void): Closeable {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.srcObject = new MediaStream([track]);
  video.play().catch(() => undefined);
  let closed = false;
  const send = (): void => {
    if (video.videoWidth === 0 || video.readyState < video.HAVE_CURRENT_DATA) return;
    onFrame(new VideoFrame(video, { timestamp: performance.now() * 1000 }));
  };
  const next = (): void => {
    if (closed) return;
    video.requestVideoFrameCallback(next);
    send();
  };
  video.requestVideoFrameCallback(next);
  // Firefox counts no frames of a stream: whether a shown frame is new is unknown here.
  const stopTicking = whileHidden(send);
  return {
    close: () => {
      closed = true;
      stopTicking();
      video.srcObject = null;
    },
  };
}

/** Firefox draws nothing in a hidden page, for example while the user presents another tab, and fires no frame callbacks. */
function whileHidden(onTick: () => void): () => void {
  let clock: Worker | null = null;
  const follow = (): void => {
    clock?.terminate();
    clock = null;
    if (!document.hidden) return;
    clock = new Worker(new URL('hidden-clock.ts', import.meta.url), { type: 'module' });
    clock.addEventListener('message', onTick);
  };
  document.addEventListener('visibilitychange', follow);
  follow();
  return () => {
    document.removeEventListener('visibilitychange', follow);
    clock?.terminate();
  };
}

function paintPicture(): PictureSink {
  const canvas = document.createElement('canvas');
  const paint = canvas.getContext('2d', { alpha: false });
  const [track] = canvas.captureStream().getVideoTracks();
  if (track === undefined) throw new Error('a canvas has a picture');
  return {
    track,
    show: (frame) => {
      const { displayWidth, displayHeight } = frame;
      if (canvas.width !== displayWidth) canvas.width = displayWidth;
      if (canvas.height !== displayHeight) canvas.height = displayHeight;
      paint?.drawImage(frame, 0, 0, displayWidth, displayHeight);
      frame.close();
    },
    close: () => track.stop(),
  };
}
