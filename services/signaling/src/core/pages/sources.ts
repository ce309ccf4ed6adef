/**
 * Visitors that have chunks of a page. A few are drawn at random, as evenly from all networks as possible: thousands of visitors behind one address
 * do not hide the others.
 */
import { Bag } from './random-set.ts';

/** `Member`: a visitor, of which only the network matters here. */
export class Givers<Member extends { readonly network: string }> {
  readonly #networks = new Bag<string>();
  readonly #of = new Map<string, Bag<Member>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(visitor: Member): void {
    const { network } = visitor;
    const bag = this.#of.get(network) ?? new Bag<Member>();
    if (bag.has(visitor)) return;
    bag.add(visitor);
    this.#size += 1;
    this.#networks.add(network);
    this.#of.set(network, bag);
  }

  remove(visitor: Member): void {
    const { network } = visitor;
    const bag = this.#of.get(network);
    if (bag?.has(visitor) !== true) return;
    bag.remove(visitor);
    this.#size -= 1;
    if (bag.size > 0) return;
    this.#networks.remove(network);
    this.#of.delete(network);
  }

  /** Up to `most` different members; possibly a few less where there are not many more than `most`. `random`: a number in [0, 1). */
  draw(most: number, random: () => number): Member[] {
    const bags = this.#networks.draw(most, random).flatMap((network) => this.#of.get(network) ?? []);
    // Large networks get the share that small networks leave.
    bags.sort((one, other) => one.size - other.size);
    const drawn: Member[] = [];
    for (const [at, bag] of bags.entries()) {
      const share = Math.floor((most - drawn.length) / (bags.length - at));
      drawn.push(...bag.draw(share, random));
    }
    return drawn;
  }
}
