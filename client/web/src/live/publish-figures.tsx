import { formatBitRate, formatDuration } from '../streams/format.ts';
import { type Fact, Facts } from '../streams/figures.tsx';
import { codecName } from './codecs.ts';
import type { PublishView } from './publish-session.ts';

/** The figures of the published media. The library reports the target of its encoders, not their output. */
export function PublishFigures({ view }: { readonly view: PublishView }) {
  const link = view.link.value;
  const { width, height, bits, codecs, hasViewers, connectedMs, reconnects } = view.figures.value;
  const facts: Fact[] = [];
  const add = (id: string, name: string, value: number | string, text = String(value)): void => {
    facts.push({ id, name, text, value });
  };
  if (link?.at === 'open') add('transport', 'Transport', link.transport);
  add(
    'viewers',
    'Being watched',
    hasViewers ? 'yes' : 'no',
    hasViewers ? 'Yes' : 'Not now, so nothing is sent',
  );
  if (width > 0) add('resolution', 'Resolution', `${width}x${height}`, `${width} × ${height}`);
  if (bits > 0) add('bits', 'Target bit rate', bits, formatBitRate(bits));
  if (codecs.length > 0) add('codecs', 'Codec', codecs.map(codecName).join(' + '));
  if (connectedMs !== null) add('connected', 'Live for', connectedMs, formatDuration(connectedMs));
  if (reconnects > 0) add('reconnects', 'Reconnects', reconnects);
  return (
    <div class="live-figures" data-testid="figures">
      <Facts facts={facts} />
    </div>
  );
}
