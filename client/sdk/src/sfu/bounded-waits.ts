/**
 * The MoQ library waits for the end of a track at each of its frames, with `Promise.race`, and the track keeps all that have ever waited until it ends:
 * 3 MiB a minute in a call of six. With `boundWaits` what can be awaited for its end (`Once` of the library) keeps the first waits, which last
 * as long as the track, and the newest, which are those of the groups that are received now.
 */
export interface Awaitable {
  /** `undefined` before the end. */
  peek(): unknown;
  changed(fn: (value: unknown) => void): unknown;
  then: PromiseLike<unknown>['then'];
}

/** A subscription begins with a few. What this page publishes has one for each time that a relay asks for one of its tracks. */
const FIRST = 64;
/** A reader has at most four groups open (`track-reader.ts`). */
const NEWEST = 128;

type Resolve = (value: unknown) => void;

class Waits {
  readonly #first: Resolve[] = [];
  readonly #newest: Resolve[] = [];
  #added = 0;

  add(resolve: Resolve): void {
    if (this.#first.length < FIRST) this.#first.push(resolve);
    else this.#newest[this.#added++ % NEWEST] = resolve;
  }

  settle(value: unknown): void {
    for (const resolve of [...this.#first.splice(0), ...this.#newest.splice(0)]) resolve(value);
  }
}

const bounded = new WeakSet();

/** For all objects of the class of this one; does nothing where it is none of the library. */
export function boundWaits(one: Awaitable): void {
  const prototype = Object.getPrototypeOf(one) as Awaitable;
  if (bounded.has(prototype) || !Object.hasOwn(prototype, 'then') || !Object.hasOwn(prototype, 'changed'))
    return;
  bounded.add(prototype);
  const waits = new WeakMap<Awaitable, Waits>();
  const waitsOf = (once: Awaitable): Waits => {
    let known = waits.get(once);
    if (known === undefined) {
      const added = new Waits();
      known = added;
      waits.set(once, added);
      once.changed((value) => added.settle(value));
    }
    return known;
  };
  const then: Awaitable['then'] = function bound(this: Awaitable, onFulfilled, onRejected) {
    const value = this.peek();
    const settled =
      value === undefined
        ? new Promise<unknown>((resolve) => waitsOf(this).add(resolve))
        : Promise.resolve(value);
    return settled.then(onFulfilled, onRejected);
  };
  Reflect.set(prototype, 'then', then);
}
