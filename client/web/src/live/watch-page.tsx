/** `/live/<name>`: a broadcast, with figures beside it. */
import { useRef, useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { Icon } from '../design/icon.tsx';
import { Logo } from '../design/logo.tsx';
import { browserStore } from '../memory/storage.ts';
import { PageLink } from '../pages/page-link.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { StreamIcon } from '../streams/stream-icon.tsx';
import { FullScreenButton, PlayerElement, SoundButton } from '../streams/stage.tsx';
import '../streams/stream.css';
import { watchPath } from './live-route.ts';
import { WatchFigures } from './watch-figures.tsx';
import { WatchNote } from './watch-note.tsx';
import { WatchPill } from './watch-pill.tsx';
import type { WatchView } from './watch-session.ts';
import './live.css';

/** The setting is shared with the pages of streams. */
const FIGURES = 'parley.stream-figures';

export function WatchPage({ view }: { readonly view: WatchView }) {
  const heading = usePageTitle(`${view.name} · Parley`);
  const [figures, setFigures] = useState(() => browserStore.read(FIGURES) !== 'off');
  const link = view.link.value;
  return (
    <div
      class={`stream${figures ? ' with-figures' : ''}`}
      data-testid="page-watch"
      data-link={link.at}
      data-transport={link.at === 'open' ? link.transport : ''}
    >
      <header class="stream-head">
        <PageLink class="logo-link" href="/live" aria-label="All live video">
          <Logo />
        </PageLink>
        <h1 class="stream-topic" ref={heading} tabIndex={-1}>
          {view.name}
        </h1>
        <WatchPill view={view} />
        <div class="stream-actions">
          <CopyButton text={location.origin + watchPath(view.name)} label="Copy link" testid="copy-link" />
          <button
            type="button"
            class="button icon-only"
            aria-label="Figures"
            title="Figures"
            aria-pressed={figures}
            data-testid="toggle-figures"
            onClick={() => {
              browserStore.write(FIGURES, figures ? 'off' : null);
              setFigures(!figures);
            }}
          >
            <StreamIcon name="chart" />
          </button>
        </div>
      </header>
      <main class="stream-main">
        <Stage view={view} />
        <WatchNote view={view} />
      </main>
      {figures && <WatchFigures view={view} />}
    </div>
  );
}

function Stage({ view }: { readonly view: WatchView }) {
  const stage = useRef<HTMLDivElement | null>(null);
  const canvas = view.canvas.value;
  const playing = view.broadcast.value === 'playing';
  const { picture, playable, sound } = view.figures.value;
  return (
    <div class="stage-frame" ref={stage} data-testid="stage">
      {canvas && <PlayerElement element={canvas} />}
      {playing && !playable && (
        <div class="stage-note" role="alert" data-testid="unplayable">
          <Icon name="warning" />
          <h2>This browser cannot play the video</h2>
          <p>It has no decoder for this codec. Open this page in a recent Chrome, Edge or Firefox.</p>
        </div>
      )}
      {playing && !picture && sound && (
        <p class="stage-note calm">
          <Icon name="sound" />
          Audio only
        </p>
      )}
      {playing && (
        <div class="stage-controls">
          {sound ? (
            <SoundButton state={view.sound.value ? 'on' : 'off'} onSound={(on) => view.setSound(on)} />
          ) : (
            <span />
          )}
          {picture && <FullScreenButton stage={() => stage.current} />}
        </div>
      )}
    </div>
  );
}
