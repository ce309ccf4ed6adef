/** A set from which a few members are drawn at random without visiting all of them. */
export class Bag<Thing> {
  readonly #things: Thing[] = [];
  readonly #places = new Map<Thing, number>();

  get size(): number {
    return this.#things.length;
  }

  has(thing: Thing): boolean {
    return this.#places.has(thing);
  }

  add(thing: Thing): void {
    if (this.#places.has(thing)) return;
    this.#places.set(thing, this.#things.length);
    this.#things.push(thing);
  }

  remove(thing: Thing): void {
    const place = this.#places.get(thing);
    const last = this.#things.at(-1);
    if (place === undefined || last === undefined) return;
    this.#things.pop();
    this.#places.delete(thing);
    if (last === thing) return;
    // The last member takes the place of the removed one.
    this.#things[place] = last;
    this.#places.set(last, place);
  }

  /** Up to `most` different members; possibly a few less where the set has not many more than `most`. `random`: a number in [0, 1). */
  draw(most: number, random: () => number): Thing[] {
    if (this.#things.length <= most) return [...this.#things];
    const drawn = new Set<Thing>();
    for (let tries = 0; drawn.size < most && tries < TRIES * most; tries += 1) {
      const thing = this.#things[Math.floor(random() * this.#things.length)];
      if (thing !== undefined) drawn.add(thing);
    }
    return [...drawn];
  }
}

/** Attempts per wanted member: most draws hit a member that was not drawn before. */
const TRIES = 4;
