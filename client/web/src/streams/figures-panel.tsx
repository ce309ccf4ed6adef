/** What the stream does, second by second. */
import { bitRate, duration, grouped, perSecond, size } from './amounts.ts';
import './figures.css';
import { Sparkline } from './sparkline.tsx';
import type { Figures, StreamView } from './stream-session.ts';

export function FiguresPanel({ stream }: { readonly stream: StreamView }) {
  const figures = stream.figures.value;
  return (
    <aside class="figures" aria-label="Figures" data-testid="figures">
      <div class="figures-rate">
        <p class="soft small">Bit rate</p>
        <p class="figures-big" data-figure="bits" data-value={Math.round(figures.bits)}>
          {bitRate(figures.bits)}
        </p>
        <Sparkline values={figures.history} />
        <p class="soft small figures-span">
          <span>The past minute</span>
          <span>most {bitRate(Math.max(...figures.history))}</span>
        </p>
      </div>
      <dl class="facts">
        {rowsOf(figures).map(({ id, name, text, value }) => (
          <div key={id}>
            <dt>{name}</dt>
            <dd data-figure={id} data-value={value}>
              {text}
            </dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly value: number | string;
}

function rowsOf(figures: Figures): readonly Row[] {
  const { frames, dropped, lag, gaps, connectedMs } = figures;
  const rows: Row[] = [];
  const add = (id: string, name: string, value: number | string | null, text = String(value)): void => {
    if (value !== null) rows.push({ id, name, text, value });
  };
  add('messages', 'Messages', figures.messages, perSecond(figures.messages));
  if (figures.width > 0)
    add(
      'resolution',
      'Resolution',
      `${figures.width}x${figures.height}`,
      `${figures.width} × ${figures.height}`,
    );
  add('frames', 'Pictures', frames, `${(frames ?? 0).toFixed(0)} /s`);
  add('dropped', 'Shown too late', dropped, grouped(dropped ?? 0));
  add('lag', 'Behind live', lag, `${(lag ?? 0).toFixed(1)} s`);
  add('gaps', 'Lost packets', gaps, grouped(gaps ?? 0));
  add('codecs', 'Codec', figures.codecs);
  add('total', 'Received', figures.totalBytes, size(figures.totalBytes));
  add('connected', 'Connected for', connectedMs, duration(connectedMs ?? 0));
  add('reconnects', 'Reconnects', figures.reconnects);
  return rows;
}
