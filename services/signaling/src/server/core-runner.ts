/** Gives a core its inputs and the time, and has its effects carried out, in order. */
import { Alarm } from './alarm.ts';

/** Without I/O: time comes in, effects come out. */
interface TimedCore<Input, Effect> {
  handle(input: Input, now: number): readonly Effect[];
  wake(now: number): readonly Effect[];
  nextWake(): number | undefined;
}

export interface CoreRunnerParts<Input, Effect> {
  readonly core: TimedCore<Input, Effect>;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly carryOut: (effect: Effect) => void;
}

export class CoreRunner<Input, Effect> {
  readonly #parts: CoreRunnerParts<Input, Effect>;
  readonly #alarm: Alarm;
  #closed = false;

  constructor(parts: CoreRunnerParts<Input, Effect>) {
    this.#parts = parts;
    this.#alarm = new Alarm(parts.now, () => this.#run(parts.core.wake(parts.now())));
  }

  /** Arms the timer for what the core wants to do by itself. */
  start(): void {
    this.#run([]);
  }

  handle(input: Input): void {
    // Sockets end after the pod has: no other pod is told of it any more, and no timer starts again.
    if (this.#closed) return;
    this.#run(this.#parts.core.handle(input, this.#parts.now()));
  }

  close(): void {
    this.#closed = true;
    this.#alarm.cancel();
  }

  #run(effects: readonly Effect[]): void {
    for (const effect of effects) this.#parts.carryOut(effect);
    this.#alarm.set(this.#parts.core.nextWake());
  }
}
