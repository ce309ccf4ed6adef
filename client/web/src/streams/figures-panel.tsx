/** The figures of the stream, updated each second. */
import { formatDuration, formatCount, formatRate, formatDecimalSize } from './format.ts';
import { Facts, type Fact, FiguresAside, RateCard } from './figures.tsx';
import type { Figures, StreamView } from './stream-session.ts';

export function FiguresPanel({ stream }: { readonly stream: StreamView }) {
  const figures = stream.figures.value;
  return (
    <FiguresAside>
      <RateCard bits={figures.bits} history={figures.history} />
      <Facts facts={factsOf(figures)} />
    </FiguresAside>
  );
}

function factsOf(figures: Figures): readonly Fact[] {
  const { frames, dropped, lag, gaps, connectedMs } = figures;
  const facts: Fact[] = [];
  const add = (id: string, name: string, value: number | string | null, text = String(value)): void => {
    if (value !== null) facts.push({ id, name, text, value });
  };
  add('messages', 'Messages', figures.messages, formatRate(figures.messages));
  if (figures.width > 0)
    add(
      'resolution',
      'Resolution',
      `${figures.width}x${figures.height}`,
      `${figures.width} × ${figures.height}`,
    );
  add('frames', 'Pictures', frames, `${(frames ?? 0).toFixed(0)} /s`);
  add('dropped', 'Shown too late', dropped, formatCount(dropped ?? 0));
  add('lag', 'Behind live', lag, `${(lag ?? 0).toFixed(1)} s`);
  add('gaps', 'Lost packets', gaps, formatCount(gaps ?? 0));
  add('codecs', 'Codec', figures.codecs);
  add('total', 'Received', figures.totalBytes, formatDecimalSize(figures.totalBytes));
  add('connected', 'Connected for', connectedMs, formatDuration(connectedMs ?? 0));
  add('reconnects', 'Reconnects', figures.reconnects);
  return facts;
}
