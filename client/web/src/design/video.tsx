import { useEffect, useRef } from 'preact/hooks';

export interface VideoProps {
  readonly stream: MediaStream | null;
  readonly mirrored?: boolean;
  /** `contain` shows the complete video, for a shared screen. */
  readonly fit?: 'cover' | 'contain';
  readonly label: string;
}

/** Video without audio: `sound.tsx` plays audio, so that it continues when a tile is removed. */
export function Video({ stream, mirrored = false, fit = 'cover', label }: VideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const video = element.current;
    if (!video) return;
    if (video.srcObject !== stream) video.srcObject = stream;
    // Some phones refuse while the tab is hidden; `autoplay` starts the video when it is shown.
    if (stream) video.play().catch(() => {});
  }, [stream]);
  return (
    <video
      ref={element}
      class={`video ${fit}${mirrored ? ' mirrored' : ''}`}
      aria-label={label}
      autoplay
      playsInline
      muted
      disablePictureInPicture={mirrored}
    />
  );
}
