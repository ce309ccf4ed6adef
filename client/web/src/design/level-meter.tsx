import { useEffect, useRef } from 'preact/hooks';
import { watchLevel } from '../media/level.ts';

const BARS = 7;

/** Bars that show the loudness. Updated without rendering, because it changes ten times a second. */
export function LevelMeter({
  track,
  muted,
}: {
  readonly track: MediaStreamTrack | null;
  readonly muted: boolean;
}) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const paint = (level: number) => {
      const lit = Math.round(level * BARS);
      for (const [index, bar] of [...(element.current?.children ?? [])].entries())
        bar.classList.toggle('lit', index < lit);
    };
    paint(0);
    return track && !muted ? watchLevel(track, paint) : undefined;
  }, [track, muted]);
  return (
    <div ref={element} class="level-meter" role="img" aria-label="Microphone level" data-testid="mic-level">
      {Array.from({ length: BARS }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}
