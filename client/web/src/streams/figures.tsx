/** The panel of figures beside the content. */
import type { ComponentChildren } from 'preact';
import { formatBitRate } from './format.ts';
import './figures.css';
import { Sparkline } from './sparkline.tsx';

export function FiguresAside({ children }: { readonly children: ComponentChildren }) {
  return (
    <aside class="figures" aria-label="Figures" data-testid="figures">
      {children}
    </aside>
  );
}

export interface RateCardProps {
  readonly bits: number;
  /** The values of the past minute, one per second. */
  readonly history: readonly number[];
}

export function RateCard({ bits, history }: RateCardProps) {
  return (
    <div class="figures-rate">
      <p class="soft small">Bit rate</p>
      <p class="figures-big" data-figure="bits" data-value={Math.round(bits)}>
        {formatBitRate(bits)}
      </p>
      <Sparkline points={history.map((y, index) => ({ x: index / Math.max(1, history.length - 1), y }))} />
      <p class="soft small figures-span">
        <span>The past minute</span>
        <span>maximum {formatBitRate(Math.max(...history))}</span>
      </p>
    </div>
  );
}

export interface Fact {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly value: number | string;
}

export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(({ id, name, text, value }) => (
        <div key={id}>
          <dt>{name}</dt>
          <dd data-figure={id} data-value={value}>
            {text}
          </dd>
        </div>
      ))}
    </dl>
  );
}
