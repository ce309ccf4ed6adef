/**
 * Calls of four, in a closed loop: members join one after another. Each newcomer sends an offer and its candidates to every member and gets
 * an answer and candidates from each; then the next one joins. When the fourth is in, all leave and the next call begins.
 */
import { performance } from 'node:perf_hooks';
import type { Target } from './dialect.ts';
import { Person, type Crowd } from './person.ts';
import type { Kind } from './payload.ts';

export const CALL_SIZE = 4;
export const CANDIDATES = 6;
/** One description and its candidates, each way. */
const SIGNALS_PER_PEER = 2 * (1 + CANDIDATES);

export interface MeshHost {
  readonly crowd: Crowd;
  readonly targets: readonly Target[];
  /** False once no further join may begin. */
  readonly goesOn: () => boolean;
  /** When the next call may begin. */
  readonly turn: () => Promise<void>;
  readonly onJoined: (tookMs: number) => void;
}

/** Runs calls one after another until the host stops it. Rejects where a join is refused. */
export async function holdCalls(host: MeshHost): Promise<void> {
  for (;;) {
    await host.turn();
    if (!host.goesOn()) return;
    const call = new Call(host);
    try {
      await call.hold();
    } finally {
      call.end();
    }
  }
}

class Call {
  readonly #host: MeshHost;
  readonly #room: string;
  readonly #people: Person[] = [];
  #missing = 0;
  #complete: () => void = () => {};

  constructor(host: MeshHost) {
    this.#host = host;
    this.#room = host.crowd.dialect.newRoom();
  }

  async hold(): Promise<void> {
    const { targets, crowd, goesOn, onJoined } = this.#host;
    for (let at = 0; at < CALL_SIZE && goesOn(); at += 1) {
      const target = targets[at % targets.length];
      if (target === undefined) throw new Error('no target');
      const start = performance.now();
      const admission = await crowd.dialect.admit(target, this.#room);
      await this.#join(new Person(crowd, admission, this));
      onJoined(performance.now() - start);
    }
  }

  /** Resolves when the newcomer has everything from everyone, and everyone has everything from the newcomer. */
  #join(person: Person): Promise<void> {
    return new Promise((resolve) => {
      this.#complete = resolve;
      this.#people.push(person);
    });
  }

  onWelcome(person: Person, others: readonly string[]): void {
    const known = this.#people.length - 1;
    if (others.length !== known) {
      return this.#host.crowd.tally.fail(`welcomed to ${others.length} people where ${known} are`);
    }
    this.#missing = others.length * SIGNALS_PER_PEER;
    for (const other of others) sendDescription(person, other, 'offer');
    return this.#completeIfAll();
  }

  onSignal(person: Person, from: string, kind: Kind): void {
    if (kind === 'offer') sendDescription(person, from, 'answer');
    this.#missing -= 1;
    this.#completeIfAll();
  }

  #completeIfAll(): void {
    if (this.#missing === 0) this.#complete();
  }

  end(): void {
    for (const person of this.#people) person.leave();
  }
}

export function sendDescription(person: Person, to: string, kind: 'offer' | 'answer'): void {
  person.send(to, kind);
  for (let at = 0; at < CANDIDATES; at += 1) person.send(to, 'candidate');
}
