/** Gives a core its inputs and the time, and carries out its effects in order. */
import { Alarm } from './alarm.ts';

/** A core without I/O: it receives the time and returns effects. */
interface TimedCore<Input, Effect> {
  handle(input: Input, now: number): readonly Effect[];
  wake(now: number): readonly Effect[];
  nextWake(): number | undefined;
}

export interface CoreRunnerParts<Input, Effect> {
  readonly core: TimedCore<Input, Effect>;
  /** Milliseconds of a monotonic clock. */
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

  /** Sets the timer for the core's scheduled actions. */
  start(): void {
    this.#run([]);
  }

  handle(input: Input): void {
    // Sockets close after the pod has: other pods are not notified any more, and no timer starts again.
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
