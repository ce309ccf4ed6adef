import type { StreamView } from './stream-session.ts';

/** A stream without messages for this long counts as paused: cameras send every frame, sensors at least every few seconds. */
const QUIET_MS = 5000;

export type Status = 'live' | 'quiet' | 'empty' | 'connecting' | 'lost' | 'stopped';

const LABELS: Readonly<Record<Status, string>> = {
  live: 'Live',
  quiet: 'Paused',
  empty: 'Waiting',
  connecting: 'Connecting',
  lost: 'Reconnecting',
  stopped: 'Stopped',
};

export function statusOf(stream: StreamView): Status {
  const link = stream.link.value;
  switch (link.at) {
    case 'connecting':
      return stream.figures.value.connectedMs === null && stream.kind.value === 'nothing'
        ? 'connecting'
        : 'lost';
    case 'waiting':
      return 'lost';
    case 'stopped':
      return 'stopped';
    case 'open': {
      if (stream.kind.value === 'nothing') return 'empty';
      const { quietMs } = stream.figures.value;
      return quietMs !== null && quietMs > QUIET_MS ? 'quiet' : 'live';
    }
    default:
      return link satisfies never;
  }
}

export function StatusPill({ status }: { readonly status: Status }) {
  return (
    <p class={`pill ${status}`} role="status" data-testid="status" data-status={status}>
      <span class="pill-dot" />
      {LABELS[status]}
    </p>
  );
}
