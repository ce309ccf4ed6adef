import type { PageView } from '@parley/sdk/pages/api';

/** The size of the chart. */
export const WIDTH = 240;
export const HEIGHT = 56;

/** The points of a step chart in its own units; the last value continues until now. */
export function stepPoints(history: PageView['history'], now: number): string {
  const [first] = history;
  if (!first) return '';
  const span = Math.max(1, now - first.at);
  const max = Math.max(1, ...history.map(({ holders }) => holders));
  const x = (at: number): string => (((at - first.at) / span) * WIDTH).toFixed(1);
  const y = (holders: number): string => (HEIGHT - 2 - (holders / max) * (HEIGHT - 6)).toFixed(1);
  return history
    .flatMap(({ at, holders }, index) => [
      `${x(at)},${y(holders)}`,
      `${x(history[index + 1]?.at ?? now)},${y(holders)}`,
    ])
    .join(' ');
}
