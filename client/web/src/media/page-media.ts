/** Pictures in and out of tracks with the page's own elements, for browsers that have nothing better: Firefox and Safari. */
import type { Closeable, PageMedia, PictureSink } from '@parley/sdk/sfu/media-ports';

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
  // Firefox counts no pictures of a stream: whether what is shown is new is not known here.
  const stopTicking = whileHidden(send);
  return {
    close: () => {
      closed = true;
      stopTicking();
      video.srcObject = null;
    },
  };
}

/** Firefox draws nothing of a page that nobody looks at, as of whoever presents another tab, and calls back for no picture. */
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
