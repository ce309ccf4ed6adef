/** Waits for a condition: checks it after every event of a socket, with a deadline and a message for the failure. */
import { EventEmitter } from 'node:events';

export class Changes {
  readonly #events = new EventEmitter().setMaxListeners(0);

  /** Checks the conditions of all waiting calls. */
  notify(): void {
    this.#events.emit('changes');
  }

  async until<Answer>(
    what: string,
    look: () => Answer | undefined | false,
    withinMs: number,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        this.#events.off('changes', check);
        finish();
      };
      const check = (): void => {
        try {
          const answer = look();
          if (answer !== undefined && answer !== false) settle(() => resolve(answer));
        } catch (error) {
          settle(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
      };
      const timer = setTimeout(
        () => settle(() => reject(new Error(`not within ${withinMs} ms: ${what}`))),
        withinMs,
      );
      this.#events.on('changes', check);
      check();
    });
  }
}
