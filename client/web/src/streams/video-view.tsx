/** The stage: the element of the player and its controls. */
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import type { PlaybackState } from './playback.ts';
import { FullScreenButton, PlayerElement, SoundButton } from './stage.tsx';
import type { StreamView } from './stream-session.ts';

export function VideoView({ stream }: { readonly stream: StreamView }) {
  const stage = useRef<HTMLDivElement | null>(null);
  const playback = stream.playback.value;
  return (
    <div class="stage-frame" ref={stage} data-testid="stage" data-playback={playback.at}>
      {playback.at === 'playing' ? (
        <>
          <PlayerElement element={playback.element} />
          {!playback.picture && (
            <p class="stage-note calm">
              <Icon name="sound" />
              Audio only
            </p>
          )}
          <Controls stream={stream} playback={playback} stage={() => stage.current} />
          {playback.note !== null && <Note text={playback.note} />}
        </>
      ) : playback.at === 'unplayable' ? (
        <div class="stage-note" role="alert" tabIndex={0} data-testid="unplayable">
          <Icon name="warning" />
          <h2>This stream cannot be played</h2>
          <p>{playback.reason}</p>
        </div>
      ) : (
        <p class="stage-note calm">Starting the video…</p>
      )}
    </div>
  );
}

type Playing = Extract<PlaybackState, { readonly at: 'playing' }>;

interface ControlsProps {
  readonly stream: StreamView;
  readonly playback: Playing;
  readonly stage: () => HTMLElement | null;
}

function Controls({ stream, playback, stage }: ControlsProps) {
  const sound = stream.sound.value;
  return (
    <div class="stage-controls">
      {playback.sound ? <SoundButton state={sound} onSound={(on) => stream.setSound(on)} /> : <span />}
      {playback.picture && <FullScreenButton stage={stage} />}
    </div>
  );
}

function Note({ text }: { readonly text: string }) {
  const [shown, setShown] = useState(true);
  if (!shown) return null;
  return (
    <div class="stage-banner" data-testid="play-note">
      <p>{text}</p>
      <button type="button" class="button quiet icon-only" aria-label="Close" onClick={() => setShown(false)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
