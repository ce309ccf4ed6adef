/** Pictures in and out of tracks with the page's own elements, for browsers that have nothing better: Firefox and Safari. */
import type { Closeable, PageMedia, PictureSink } from '@parley/sdk/relayed/media-ports';

export const pageMedia: PageMedia = { readVideo: watchVideo, createPicture: paintPicture };

function watchVideo(track: MediaStreamTrack, onFrame: (frame: VideoFrame) => void): Closeable {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.srcObject = new MediaStream([track]);
  video.play().catch(() => undefined);
  let closed = false;
  const next = (): void => {
    if (closed) return;
    video.requestVideoFrameCallback(next);
    if (video.videoWidth > 0) onFrame(new VideoFrame(video, { timestamp: performance.now() * 1000 }));
  };
  video.requestVideoFrameCallback(next);
  return {
    close: () => {
      closed = true;
      video.srcObject = null;
    },
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
