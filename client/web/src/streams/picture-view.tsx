/** The stage: the element of the player and its controls. */
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import type { Show } from './screen.ts';
import { FullScreenButton, Placed, SoundButton } from './stage.tsx';
import type { StreamView } from './stream-session.ts';

export function PictureView({ stream }: { readonly stream: StreamView }) {
  const stage = useRef<HTMLDivElement | null>(null);
  const show = stream.show.value;
  return (
    <div class="stage-frame" ref={stage} data-testid="stage" data-show={show.at}>
      {show.at === 'playing' ? (
        <>
          <Placed element={show.element} />
          {!show.picture && (
            <p class="stage-note calm">
              <Icon name="sound" />
              Audio only
            </p>
          )}
          <Controls stream={stream} show={show} stage={() => stage.current} />
          {show.note !== null && <Note text={show.note} />}
        </>
      ) : show.at === 'unplayable' ? (
        <div class="stage-note" role="alert" data-testid="unplayable">
          <Icon name="warning" />
          <h2>This stream cannot be played</h2>
          <p>{show.why}</p>
        </div>
      ) : (
        <p class="stage-note calm">Starting the video…</p>
      )}
    </div>
  );
}

type Playing = Extract<Show, { readonly at: 'playing' }>;

interface ControlsProps {
  readonly stream: StreamView;
  readonly show: Playing;
  readonly stage: () => HTMLElement | null;
}

function Controls({ stream, show, stage }: ControlsProps) {
  const sound = stream.sound.value;
  return (
    <div class="stage-controls">
      {show.sound ? <SoundButton state={sound} onSound={(on) => stream.setSound(on)} /> : <span />}
      {show.picture && <FullScreenButton stage={stage} />}
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
