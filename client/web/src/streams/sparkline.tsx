/** The size of the chart, in its own units. */
const WIDTH = 240;
const HEIGHT = 56;

interface SparklineProps {
  /** `x` is from 0 to 1. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** An area chart without axes: its figures are shown beside it. */
export function Sparkline({ points }: SparklineProps) {
  const max = Math.max(1, ...points.map(({ y }) => y));
  const line = points
    .map(({ x, y }) => `${(x * WIDTH).toFixed(1)},${(HEIGHT - 2 - (y / max) * (HEIGHT - 6)).toFixed(1)}`)
    .join(' ');
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />
      <polyline points={line} />
    </svg>
  );
}
