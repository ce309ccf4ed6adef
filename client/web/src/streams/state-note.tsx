/** The note while there is nothing new to show, above the last content. */
import { formatDuration } from './format.ts';
import { Commands } from './commands.tsx';
import { StreamIcon } from './stream-icon.tsx';
import { statusOf } from './status-pill.tsx';
import type { StreamView } from './stream-session.ts';
import { TokenForm } from './token-form.tsx';
import { subscriberTopic } from './topic.ts';
import { Countdown, ConnectionProblem } from './connection-problem.tsx';

export function StateNote({ stream }: { readonly stream: StreamView }) {
  const link = stream.link.value;
  const empty = stream.kind.value === 'nothing';
  if (link.at === 'waiting' || link.at === 'stopped')
    return (
      <ConnectionProblem reason={link.reason} banner={!empty && link.at === 'waiting'}>
        {link.at === 'waiting' && <Countdown until={link.until} />}
        {link.reason.token && <TokenForm onToken={(token) => stream.useToken(token)} />}
        <button
          type="button"
          class={`button${link.reason.token ? '' : ' primary'}`}
          data-testid="retry"
          onClick={() => stream.retry()}
        >
          {link.at === 'waiting' ? 'Try now' : 'Try again'}
        </button>
      </ConnectionProblem>
    );
  const status = statusOf(stream);
  if (status === 'empty') return <Empty topic={stream.topic} />;
  if (status === 'quiet')
    return (
      <p class="stage-banner" data-testid="quiet">
        No data for {formatDuration(stream.figures.value.quietMs ?? 0)}. The last data is shown.
      </p>
    );
  return empty ? <p class="stage-note calm">Connecting…</p> : null;
}

/** No sender. If the user opened the sending address by mistake, the note links the other one. */
function Empty({ topic }: { readonly topic: string }) {
  const watched = subscriberTopic(topic);
  return (
    <div class="stage-note empty" data-testid="empty">
      <div class="stage-icon">
        <StreamIcon name="antenna" />
      </div>
      {watched === topic ? (
        <>
          <h2>Waiting for a sender</h2>
          <p>You are connected. The stream is shown here as soon as it begins.</p>
          <details class="stage-how">
            <summary>How to send a stream</summary>
            <Commands topic={topic} />
          </details>
        </>
      ) : (
        <>
          <h2>This address is for sending</h2>
          <p>Streams that are sent here are watched at {watched}.</p>
          <a class="button primary" href={`/streams/${watched}`}>
            Watch {watched}
          </a>
        </>
      )}
    </div>
  );
}
