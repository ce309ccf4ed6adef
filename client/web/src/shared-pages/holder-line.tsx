import type { PageView } from '@parley/sdk/pages/api';
import { HEIGHT, stepPoints, WIDTH } from './step-chart.ts';

/** The number of holders over time. The same is described in text below it. */
export function HolderChart({ history }: Pick<PageView, 'history'>) {
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <Steps points={stepPoints(history, Date.now())} />
    </svg>
  );
}

const Steps = ({ points }: { readonly points: string }) => (
  <>
    <polygon points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} />
    <polyline points={points} />
  </>
);
