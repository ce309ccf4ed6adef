/** The note while there is nothing new to show, above the last content. */
import { StreamIcon } from '../streams/stream-icon.tsx';
import { Countdown, ConnectionProblem } from '../streams/connection-problem.tsx';
import type { WatchView } from './watch-session.ts';

export function WatchNote({ view }: { readonly view: WatchView }) {
  const link = view.link.value;
  const broadcast = view.broadcast.value;
  if (link.at === 'waiting' || link.at === 'stopped')
    return (
      <ConnectionProblem reason={link.reason} banner={broadcast !== 'not-started' && link.at === 'waiting'}>
        {link.at === 'waiting' && <Countdown until={link.until} />}
        <button type="button" class="button primary" data-testid="retry" onClick={() => view.retry()}>
          {link.at === 'waiting' ? 'Try now' : 'Try again'}
        </button>
      </ConnectionProblem>
    );
  if (broadcast === 'playing') return null;
  if (link.at === 'connecting')
    return <p class="stage-note calm">{broadcast === 'not-started' ? 'Connecting…' : 'Reconnecting…'}</p>;
  if (broadcast === 'starting') return <p class="stage-note calm">Starting the video…</p>;
  return (
    <div class="stage-note empty" data-testid={broadcast}>
      <div class="stage-icon">
        <StreamIcon name="antenna" />
      </div>
      {broadcast === 'gone' ? (
        <>
          <h2>The broadcast has ended</h2>
          <p>The publisher left. The video continues here if the publisher returns.</p>
        </>
      ) : (
        <>
          <h2>No one is live here yet</h2>
          <p>You are connected. The video is shown as soon as someone publishes {view.name}.</p>
        </>
      )}
    </div>
  );
}
