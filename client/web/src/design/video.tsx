import { useEffect, useRef } from 'preact/hooks';

export interface VideoProps {
  readonly stream: MediaStream | null;
  readonly mirrored?: boolean;
  /** `contain` shows all of it, as a shared screen must. */
  readonly fit?: 'cover' | 'contain';
  readonly label: string;
}

/** A picture without sound: voices are played by `sound.tsx`, so that they go on when a tile disappears. */
export function Video({ stream, mirrored = false, fit = 'cover', label }: VideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const video = element.current;
    if (!video) return;
    if (video.srcObject !== stream) video.srcObject = stream;
    // Refused while the tab is hidden on some phones; `autoplay` starts it when it is shown.
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
