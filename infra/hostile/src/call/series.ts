/** Measures in the order in which they were taken. */
import type { Moment } from './plan.ts';
import { quantile } from './quantile.ts';

export class Series {
  readonly #all: number[] = [];
  max: Moment = { ms: 0, at: 0 };

  add(ms: number): void {
    this.#all.push(ms);
    if (ms > this.max.ms) this.max = { ms, at: Date.now() };
  }

  get count(): number {
    return this.#all.length;
  }

  quantile(share: number): number {
    return quantile(this.#all, share);
  }
}
