import type { PageView } from '@parley/sdk/pages/api';
import { HEIGHT, steps, WIDTH } from './steps.ts';

/** The number of holders over time. The same is described in text below it. */
export function HolderLine({ history }: Pick<PageView, 'history'>) {
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <Steps points={steps(history, Date.now())} />
    </svg>
  );
}

const Steps = ({ points }: { readonly points: string }) => (
  <>
    <polygon points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} />
    <polyline points={points} />
  </>
);
