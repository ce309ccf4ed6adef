/** Waiting for what a socket will bring: looked at after every event, with a deadline and a sentence for the failure. */
import { EventEmitter } from 'node:events';

export class News {
  readonly #events = new EventEmitter().setMaxListeners(0);

  /** Something happened. */
  tell(): void {
    this.#events.emit('news');
  }

  async until<Answer>(
    what: string,
    look: () => Answer | undefined | false,
    withinMs: number,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        this.#events.off('news', check);
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
      this.#events.on('news', check);
      check();
    });
  }
}
