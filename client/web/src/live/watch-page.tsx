/** `/live/<name>`: a broadcast, with figures beside it. */
import { useRef } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { FullScreenButton, PlayerElement, SoundButton } from '../streams/stage.tsx';
import { StatusPill } from '../streams/status-pill.tsx';
import { Viewer } from '../streams/viewer.tsx';
import { watchPath } from './live-route.ts';
import { TransportTag } from './transport-tag.tsx';
import { WatchFigures } from './watch-figures.tsx';
import { WatchNote } from './watch-note.tsx';
import type { WatchView } from './watch-session.ts';
import { watchStatus } from './watch-status.ts';
import './live.css';

export function WatchPage({ view }: { readonly view: WatchView }) {
  const link = view.link.value;
  const transport = link.at === 'open' ? link.transport : null;
  return (
    <Viewer
      title={view.name}
      home={{ href: '/live', label: 'All live video' }}
      link={location.origin + watchPath(view.name)}
      status={
        <>
          <StatusPill status={watchStatus(view)} />
          {transport && <TransportTag transport={transport} />}
        </>
      }
      figures={<WatchFigures view={view} />}
      data={{ 'data-testid': 'page-watch', 'data-link': link.at, 'data-transport': transport ?? '' }}
    >
      <Stage view={view} />
      <WatchNote view={view} />
    </Viewer>
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
        <div class="stage-note" role="alert" tabIndex={0} data-testid="unplayable">
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
