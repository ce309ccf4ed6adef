/** Calls its listeners once for all changes of one turn of the event loop. */
export class Listeners {
  readonly #listeners = new Set<() => void>();
  #due = false;

  /** The returned function ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
