/** Visitors who can give something of a page. A few are drawn by chance, as evenly of all networks as there are: thousands behind one address hide nobody. */
import { Bag } from './bag.ts';
import type { Visitor } from './state.ts';

export class Givers {
  readonly #networks = new Bag<string>();
  readonly #of = new Map<string, Bag<Visitor>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(visitor: Visitor): void {
    const { network } = visitor;
    const bag = this.#of.get(network) ?? new Bag<Visitor>();
    if (bag.has(visitor)) return;
    bag.add(visitor);
    this.#size += 1;
    this.#networks.add(network);
    this.#of.set(network, bag);
  }

  remove(visitor: Visitor): void {
    const { network } = visitor;
    const bag = this.#of.get(network);
    if (bag?.has(visitor) !== true) return;
    bag.remove(visitor);
    this.#size -= 1;
    if (bag.size > 0) return;
    this.#networks.remove(network);
    this.#of.delete(network);
  }

  /** Up to `most`, each once; where that is not nearly all of them, it may be a few less. `random`: a number in [0, 1). */
  draw(most: number, random: () => number): Visitor[] {
    const bags = this.#networks.draw(most, random).flatMap((network) => this.#of.get(network) ?? []);
    // What small networks do not have is left for the large.
    bags.sort((one, other) => one.size - other.size);
    const drawn: Visitor[] = [];
    for (const [at, bag] of bags.entries()) {
      const share = Math.floor((most - drawn.length) / (bags.length - at));
      drawn.push(...bag.draw(share, random));
    }
    return drawn;
  }
}
