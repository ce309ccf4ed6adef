/**
 * Restores the order in which frames were encoded. Groups arrive in parallel, each on its own stream, and some twice while a relay is replaced.
 * Within a group no frame is skipped; a group that stalls is abandoned as soon as the next one, which begins with a key frame, is due. The number
 * of buffered groups, frames and bytes is bounded: beyond it the oldest group is dropped.
 */

/** Ten seconds of 30 frames per second: a group has two seconds. */
const MAX_FRAMES = 300;
/** Also counts groups without a usable frame: a sender that opens a thousand streams a second is not followed. */
const MAX_GROUPS = 64;
/** As much as a relay keeps of one group (MED-18). */
const MAX_BYTES = 32 * 1024 * 1024;

interface Buffered<Item> {
  readonly item: Item;
  readonly bytes: number;
}

interface Group<Item> {
  readonly frames: Map<number, Buffered<Item>>;
  /** The number of frames, once the group has ended. */
  length: number | null;
}

export interface Ordered<Item> {
  readonly item: Item;
  /** The frame needs no earlier one. */
  readonly first: boolean;
}

export class GroupOrder<Item> {
  readonly #groups = new Map<number, Group<Item>>();
  /** The current group and the next frame in it; `null` at the beginning. */
  #at: { group: number; index: number } | null = null;
  #frames = 0;
  #bytes = 0;

  /** `bytes`: the memory of the item. */
  push(group: number, index: number, item: Item, bytes: number): void {
    if (this.#at !== null && (group < this.#at.group || (group === this.#at.group && index < this.#at.index)))
      return;
    const { frames } = this.#group(group);
    if (frames.has(index)) return;
    frames.set(index, { item, bytes });
    this.#frames += 1;
    this.#bytes += bytes;
    this.#trim();
  }

  /** The group has ended with `length` frames, some of which may still be decrypted. */
  ended(group: number, length: number): void {
    if (this.#at !== null && group < this.#at.group) return;
    this.#group(group).length = length;
    this.#trim();
  }

  /** The next frame, where there is one. `isDue` says of the first frame of a later group that it cannot wait for the rest of this one. */
  next(isDue: (item: Item) => boolean): Ordered<Item> | undefined {
    this.#at ??= this.#start();
    if (this.#at === null) return undefined;
    const current = this.#groups.get(this.#at.group);
    const buffered = current?.frames.get(this.#at.index);
    if (current !== undefined && buffered !== undefined) {
      current.frames.delete(this.#at.index);
      this.#frames -= 1;
      this.#bytes -= buffered.bytes;
      this.#at.index += 1;
      return { item: buffered.item, first: this.#at.index === 1 };
    }
    const later = this.#after(this.#at.group);
    const head = later === undefined ? undefined : this.#groups.get(later)?.frames.get(0);
    if (later === undefined || head === undefined) return undefined;
    const over =
      current?.length !== null && current?.length !== undefined && this.#at.index >= current.length;
    if (!over && !isDue(head.item)) return undefined;
    this.#move(later);
    return this.next(isDue);
  }

  #start(): { group: number; index: number } | null {
    const whole = [...this.#groups].filter(([, { frames }]) => frames.has(0)).map(([group]) => group);
    return whole.length === 0 ? null : { group: Math.max(...whole), index: 0 };
  }

  #move(group: number): void {
    for (const earlier of this.#groups.keys()) if (earlier < group) this.#drop(earlier);
    this.#at = { group, index: 0 };
  }

  #after(group: number): number | undefined {
    const later = [...this.#groups]
      .filter(([one, { frames }]) => one > group && frames.has(0))
      .map(([one]) => one);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  /** Called after the new frame is counted: it may be the oldest itself. */
  #trim(): void {
    while (this.#groups.size > MAX_GROUPS || this.#frames > MAX_FRAMES || this.#bytes > MAX_BYTES)
      this.#drop(Math.min(...this.#groups.keys()));
  }

  #drop(group: number): void {
    for (const { bytes } of this.#groups.get(group)?.frames.values() ?? []) {
      this.#frames -= 1;
      this.#bytes -= bytes;
    }
    this.#groups.delete(group);
  }

  #group(group: number): Group<Item> {
    const known = this.#groups.get(group) ?? { frames: new Map<number, Buffered<Item>>(), length: null };
    this.#groups.set(group, known);
    return known;
  }
}
