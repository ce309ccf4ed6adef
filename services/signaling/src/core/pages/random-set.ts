/** A set from which a few members are drawn at random without visiting all of them. */
export class RandomSet<Item> {
  readonly #items: Item[] = [];
  readonly #places = new Map<Item, number>();

  get size(): number {
    return this.#items.length;
  }

  has(item: Item): boolean {
    return this.#places.has(item);
  }

  add(item: Item): void {
    if (this.#places.has(item)) return;
    this.#places.set(item, this.#items.length);
    this.#items.push(item);
  }

  remove(item: Item): void {
    const place = this.#places.get(item);
    const last = this.#items.at(-1);
    if (place === undefined || last === undefined) return;
    this.#items.pop();
    this.#places.delete(item);
    if (last === item) return;
    // The last member takes the place of the removed one.
    this.#items[place] = last;
    this.#places.set(last, place);
  }

  /** Up to `max` different members; possibly a few less where the set has not many more than `max`. `random`: a number in [0, 1). */
  draw(max: number, random: () => number): Item[] {
    if (this.#items.length <= max) return [...this.#items];
    const drawn = new Set<Item>();
    for (let tries = 0; drawn.size < max && tries < TRIES * max; tries += 1) {
      const item = this.#items[Math.floor(random() * this.#items.length)];
      if (item !== undefined) drawn.add(item);
    }
    return [...drawn];
  }
}

/** Attempts per wanted member: most draws hit a member that was not drawn before. */
const TRIES = 4;
