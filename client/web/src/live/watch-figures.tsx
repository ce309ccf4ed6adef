/** The figures of the broadcast, updated each second. */
import { formatDuration, formatDecimalSize } from '../streams/format.ts';
import { type Fact, Facts, FiguresAside, RateCard } from '../streams/figures.tsx';
import { codecName } from './codecs.ts';
import type { WatchView } from './watch-session.ts';

export function WatchFigures({ view }: { readonly view: WatchView }) {
  const { bits, history } = view.figures.value;
  return (
    <FiguresAside>
      <RateCard bits={bits} history={history} />
      <Facts facts={factsOf(view)} />
    </FiguresAside>
  );
}

function factsOf(view: WatchView): readonly Fact[] {
  const link = view.link.value;
  const figures = view.figures.value;
  const facts: Fact[] = [];
  const add = (id: string, name: string, value: number | string, text = String(value)): void => {
    facts.push({ id, name, text, value });
  };
  if (link.at === 'open') add('transport', 'Transport', link.transport);
  if (figures.width > 0) {
    const { width, height, rate } = figures;
    add('resolution', 'Resolution', `${width}x${height}`, `${width} × ${height}`);
    add('frames', 'Pictures', rate, `${rate.toFixed(0)} /s`);
  }
  if (figures.bufferMs > 0)
    add('buffer', 'Latency target', figures.bufferMs, `${Math.round(figures.bufferMs)} ms`);
  if (figures.codecs.length > 0) add('codecs', 'Codec', figures.codecs.map(codecName).join(' + '));
  add('total', 'Received', figures.totalBytes, formatDecimalSize(figures.totalBytes));
  if (figures.connectedMs !== null)
    add('connected', 'Connected for', figures.connectedMs, formatDuration(figures.connectedMs));
  add('reconnects', 'Reconnects', figures.reconnects);
  return facts;
}
