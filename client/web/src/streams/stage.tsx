/** The container of the video of a stage, and its controls. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { StreamIcon } from './stream-icon.tsx';
import './stage.css';

/** The element of a player is inserted, never rendered. */
export function PlayerElement({ element }: { readonly element: HTMLElement }) {
  const container = useRef<HTMLDivElement | null>(null);
  useLayoutEffect(() => {
    container.current?.replaceChildren(element);
  }, [element]);
  return <div class="stage-picture" ref={container} />;
}

interface SoundButtonProps {
  readonly state: 'off' | 'on' | 'refused';
  readonly onSound: (on: boolean) => void;
}

export function SoundButton({ state, onSound }: SoundButtonProps) {
  return (
    <button
      type="button"
      class={`stage-button${state === 'on' ? '' : ' muted'}`}
      aria-pressed={state === 'on'}
      data-testid="sound"
      onClick={() => onSound(state !== 'on')}
    >
      {state === 'on' ? <Icon name="sound" /> : <StreamIcon name="sound-off" />}
      {state === 'on' ? 'Sound is on' : state === 'refused' ? 'Tap again for sound' : 'Turn sound on'}
    </button>
  );
}

export function FullScreenButton({ stage }: { readonly stage: () => HTMLElement | null }) {
  if (!document.fullscreenEnabled) return null;
  return (
    <button
      type="button"
      class="stage-button"
      aria-label="Full screen"
      title="Full screen"
      data-testid="full-screen"
      onClick={() => {
        if (document.fullscreenElement) void document.exitFullscreen();
        else void stage()?.requestFullscreen();
      }}
    >
      <StreamIcon name="full" />
    </button>
  );
}
