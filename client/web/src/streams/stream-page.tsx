/** `/streams/<topic>`: the content of the topic, with figures beside it. */
import { BytesView } from './bytes-view.tsx';
import { FiguresPanel } from './figures-panel.tsx';
import { LinesView } from './lines-view.tsx';
import { StateNote } from './state-note.tsx';
import { StatusPill, statusOf } from './status-pill.tsx';
import './stage.css';
import type { StreamView } from './stream-session.ts';
import { VideoView } from './video-view.tsx';
import { Viewer } from './viewer.tsx';

export function StreamPage({ stream }: { readonly stream: StreamView }) {
  const kind = stream.kind.value;
  return (
    <Viewer
      title={stream.topic}
      home={{ href: '/streams', label: 'All streams' }}
      link={linkWithoutToken()}
      status={<StatusPill status={statusOf(stream)} />}
      figures={<FiguresPanel stream={stream} />}
      data={{ 'data-testid': 'page-stream', 'data-link': stream.link.value.at, 'data-kind': kind }}
    >
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
    </Viewer>
  );
}

/** The recipient of the link needs a token of their own. */
const linkWithoutToken = (): string => location.origin + location.pathname;
