import type { PageView } from '@parley/sdk/pages/api';

/** The points of a step chart, with `x` from 0 to 1; the last value continues until now. */
export function stepPoints(
  history: PageView['history'],
  now: number,
): readonly { readonly x: number; readonly y: number }[] {
  const start = history[0]?.at ?? now;
  const x = (at: number): number => (at - start) / Math.max(1, now - start);
  return history.flatMap(({ at, holders }, index) => [
    { x: x(at), y: holders },
    { x: x(history[index + 1]?.at ?? now), y: holders },
  ]);
}
