import type { CallFigures, Person } from '@parley/sdk/call';
import type { TrackFigures } from '@parley/sdk/measure/figures';
import { useEffect, useState } from 'preact/hooks';
import { PATHS } from '../text/links.ts';
import { Dialog } from '../design/dialog.tsx';
import type { CallSession } from './session.ts';
import './statistics.css';

const EVERY_MS = 1000;

const SOURCES: Readonly<Record<TrackFigures['source'], string>> = {
  microphone: 'Voice',
  camera: 'Camera',
  screen: 'Screen',
  'screen-audio': 'Screen sound',
};

/** The current figures of all sent and received media, to find a bottleneck. */
export function StatisticsDialog({
  session,
  onClose,
}: {
  readonly session: CallSession;
  readonly onClose: () => void;
}) {
  const figures = useFigures(session);
  const { people } = session.snapshot.value;
  return (
    <Dialog title="Statistics" onClose={onClose} testid="statistics-dialog" wide>
      <RelayFacts figures={figures} />
      {people.map((person) => (
        <PersonFacts key={person.participant} person={person} figures={figures} />
      ))}
      {people.length === 0 && <p class="soft">No one else is here: nothing is sent.</p>}
    </Dialog>
  );
}

function useFigures(session: CallSession): CallFigures | null {
  const [figures, setFigures] = useState<CallFigures | null>(null);
  useEffect(() => {
    let open = true;
    let timer: ReturnType<typeof setTimeout>;
    const look = async (): Promise<void> => {
      const found = await session.measure().catch(() => null);
      if (!open) return;
      setFigures(found);
      timer = setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => {
      open = false;
      clearTimeout(timer);
    };
  }, [session]);
  return figures;
}

function RelayFacts({ figures }: { readonly figures: CallFigures | null }) {
  if (!figures?.relay) return null;
  const { transport, roundTripMs, lossPercent, sent } = figures.relay;
  const connection = transport === 'WebTransport' ? 'QUIC (WebTransport)' : 'TCP (WebSocket)';
  return (
    <section class="statistics" data-testid="statistics-relay">
      <h3>To the media relay</h3>
      <p class="soft small">{[connection, ...numbers(roundTripMs, lossPercent)].join(' · ')}</p>
      <Tracks received={[]} sent={sent} />
    </section>
  );
}

function PersonFacts({ person, figures }: { readonly person: Person; readonly figures: CallFigures | null }) {
  const { link } = person;
  const own = figures?.people.find(({ participant }) => participant === person.participant);
  const path =
    link.status === 'connected'
      ? [PATHS[link.path], ...numbers(link.roundTripMs, link.lossPercent)].join(' · ')
      : 'Not connected';
  return (
    <section class="statistics" data-testid="statistics-person" data-participant={person.participant}>
      <h3>{person.name}</h3>
      <p class="soft small">{path}</p>
      {own && <Tracks received={own.received} sent={own.sent} />}
    </section>
  );
}

const numbers = (roundTripMs: number | null, lossPercent: number | null): string[] => [
  ...(roundTripMs === null ? [] : [`${Math.round(roundTripMs)} ms round trip`]),
  ...(lossPercent === null ? [] : [`${lossPercent.toFixed(1)} % lost`]),
];

interface TracksProps {
  readonly received: readonly TrackFigures[];
  readonly sent: readonly TrackFigures[];
}

function Tracks({ received, sent }: TracksProps) {
  if (received.length + sent.length === 0) return null;
  return (
    <div class="statistics-scroll" tabIndex={0} role="group" aria-label="Tracks">
      <table>
        <thead>
          <tr>
            <th scope="col">Track</th>
            <th scope="col">Codec</th>
            <th scope="col">Picture</th>
            <th scope="col">kbit/s</th>
            <th scope="col">Lost</th>
            <th scope="col">Buffer</th>
          </tr>
        </thead>
        <tbody>
          {received.map((track, nth) => (
            <Track key={`in ${track.source} ${nth}`} direction="in" track={track} />
          ))}
          {sent.map((track, nth) => (
            <Track key={`out ${track.source} ${nth}`} direction="out" track={track} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Track({ direction, track }: { readonly direction: 'in' | 'out'; readonly track: TrackFigures }) {
  const { source, codec, width, height, framesPerSecond, kilobitsPerSecond, lossPercent, bufferMs } = track;
  const picture =
    width === null || height === null ? '' : `${width}×${height} @ ${Math.round(framesPerSecond ?? 0)}`;
  return (
    <tr data-testid="statistics-track" data-direction={direction} data-source={source}>
      <th scope="row">
        <span aria-hidden="true">{direction === 'in' ? '↓' : '↑'}</span> {SOURCES[source]}
        <span class="visually-hidden">{direction === 'in' ? ', received' : ', sent'}</span>
      </th>
      <td>{codec ?? '–'}</td>
      <td>{picture || '–'}</td>
      <td data-testid="rate">{kilobitsPerSecond}</td>
      <td>{lossPercent === null ? '–' : `${lossPercent.toFixed(1)} %`}</td>
      <td>{bufferMs === null ? '–' : `${bufferMs} ms`}</td>
    </tr>
  );
}
