/** `/streams/<topic>`: the content of the topic, with figures beside it. */
import { useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { Logo } from '../design/logo.tsx';
import { browserStore } from '../memory/storage.ts';
import { PageLink } from '../pages/page-link.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { BytesView } from './bytes-view.tsx';
import { FiguresPanel } from './figures-panel.tsx';
import { LinesView } from './lines-view.tsx';
import { VideoView } from './video-view.tsx';
import { StreamIcon } from './stream-icon.tsx';
import { StateNote } from './state-note.tsx';
import { StatusPill } from './status-pill.tsx';
import './stream.css';
import './stage.css';
import type { StreamView } from './stream-session.ts';

const FIGURES = 'parley.stream-figures';

export function StreamPage({ stream }: { readonly stream: StreamView }) {
  const heading = usePageTitle(`${stream.topic} · Parley`);
  const [figures, setFigures] = useState(() => browserStore.read(FIGURES) !== 'off');
  const kind = stream.kind.value;
  return (
    <div
      class={`stream${figures ? ' with-figures' : ''}`}
      data-testid="page-stream"
      data-link={stream.link.value.at}
      data-kind={kind}
    >
      <header class="stream-head">
        <PageLink class="logo-link" href="/streams" aria-label="All streams">
          <Logo />
        </PageLink>
        <h1 class="stream-topic" ref={heading} tabIndex={-1}>
          {stream.topic}
        </h1>
        <StatusPill stream={stream} />
        <div class="stream-actions">
          <CopyButton text={shared()} label="Copy link" testid="copy-link" />
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
        {kind === 'video' ? (
          <VideoView stream={stream} />
        ) : kind === 'text' ? (
          <LinesView stream={stream} />
        ) : kind === 'bytes' ? (
          <BytesView stream={stream} />
        ) : (
          <div class="stage-frame" />
        )}
        <StateNote stream={stream} />
      </main>
      {figures && <FiguresPanel stream={stream} />}
    </div>
  );
}

/** Without the token: the recipient of the link needs an own one. */
const shared = (): string => location.origin + location.pathname;
