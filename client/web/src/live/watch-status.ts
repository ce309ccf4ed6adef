import type { Status } from '../streams/status-pill.tsx';
import type { WatchView } from './watch-session.ts';

/** A broadcast without media for this long counts as paused. */
const QUIET_MS = 4000;

export function watchStatus(view: WatchView): Status {
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
