/** Random numbers from a seed (mulberry32), so that a failing order can be repeated. */
import type { Random } from '../../src/ports.ts';

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { fraction, bytes: (count) => Uint8Array.from({ length: count }, () => fraction() * 256) };
}
