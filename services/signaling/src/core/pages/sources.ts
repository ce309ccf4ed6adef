/**
 * Visitors that have chunks of a page. A few are drawn at random, as evenly from all networks as possible: thousands of visitors behind one address
 * do not hide the others.
 */
import { RandomSet } from './random-set.ts';

/** `Member`: a visitor, of which only the network matters here. */
export class Sources<Member extends { readonly network: string }> {
  readonly #networks = new RandomSet<string>();
  readonly #of = new Map<string, RandomSet<Member>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(visitor: Member): void {
    const { network } = visitor;
    const set = this.#of.get(network) ?? new RandomSet<Member>();
    if (set.has(visitor)) return;
    set.add(visitor);
    this.#size += 1;
    this.#networks.add(network);
    this.#of.set(network, set);
  }

  remove(visitor: Member): void {
    const { network } = visitor;
    const set = this.#of.get(network);
    if (set?.has(visitor) !== true) return;
    set.remove(visitor);
    this.#size -= 1;
    if (set.size > 0) return;
    this.#networks.remove(network);
    this.#of.delete(network);
  }

  /** Up to `max` different members; possibly a few less where there are not many more than `max`. `random`: a number in [0, 1). */
  draw(max: number, random: () => number): Member[] {
    const sets = this.#networks.draw(max, random).flatMap((network) => this.#of.get(network) ?? []);
    // Large networks get the share that small networks leave.
    sets.sort((one, other) => one.size - other.size);
    const drawn: Member[] = [];
    for (const [at, set] of sets.entries()) {
      const share = Math.floor((max - drawn.length) / (sets.length - at));
      drawn.push(...set.draw(share, random));
    }
    return drawn;
  }
}
