import { TransportTag } from './transport-tag.tsx';
import type { WatchView } from './watch-session.ts';

/** A broadcast without media for this long counts as paused. */
const QUIET_MS = 4000;

type Status = 'live' | 'quiet' | 'empty' | 'connecting' | 'lost' | 'stopped';

const WORDS: Readonly<Record<Status, string>> = {
  live: 'Live',
  quiet: 'Paused',
  empty: 'Waiting',
  connecting: 'Connecting',
  lost: 'Reconnecting',
  stopped: 'Stopped',
};

export function statusOf(view: WatchView): Status {
  const link = view.link.value;
  const broadcast = view.broadcast.value;
  switch (link.at) {
    case 'connecting':
      return broadcast === 'not-started' ? 'connecting' : 'lost';
    case 'waiting':
      return 'lost';
    case 'stopped':
      return 'stopped';
    case 'open':
      if (broadcast !== 'playing') return broadcast === 'starting' ? 'connecting' : 'empty';
      return view.figures.value.quietMs > QUIET_MS ? 'quiet' : 'live';
    default:
      return link satisfies never;
  }
}

export function WatchPill({ view }: { readonly view: WatchView }) {
  const status = statusOf(view);
  const link = view.link.value;
  return (
    <>
      <p class={`pill ${status}`} role="status" data-testid="status" data-status={status}>
        <span class="pill-dot" />
        {WORDS[status]}
      </p>
      {link.at === 'open' && <TransportTag transport={link.transport} />}
    </>
  );
}
