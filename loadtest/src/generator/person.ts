/** A participant: counts the messages to each other one, and checks every byte that it receives. */
import type { Admission, Dialect } from './dialect.ts';
import { headOf, isIntact, kindOf, tailOf, type Kind } from './payload.ts';
import type { Tally } from './tally.ts';
import { Wire, maskedText, type Masked } from './wire.ts';

export interface PersonListener {
  onWelcome(person: Person, others: readonly string[]): void;
  onSignal(person: Person, from: string, kind: Kind): void;
}

/** State that all participants of a run share. */
export interface Crowd {
  readonly dialect: Dialect;
  readonly tally: Tally;
  readonly tails: Readonly<Record<Kind, Masked>>;
  /** Participants with a socket, by their id. */
  readonly present: Map<string, Person>;
}

export function crowdOf(dialect: Dialect, tally: Tally): Crowd {
  const masked = (kind: Kind): Masked => maskedText(tailOf(kind) + dialect.after);
  const tails = {
    offer: masked('offer'),
    answer: masked('answer'),
    candidate: masked('candidate'),
    message: masked('message'),
  };
  return { dialect, tally, tails, present: new Map() };
}

export class Person {
  readonly me: string;
  readonly #crowd: Crowd;
  readonly #listener: PersonListener;
  readonly #wire: Wire;
  readonly #sentTo = new Map<string, number>();
  readonly #receivedFrom = new Map<string, number>();
  /** Messages to this participant that have not arrived yet. */
  #due = 0;

  constructor(crowd: Crowd, admission: Admission, listener: PersonListener) {
    this.me = admission.me;
    this.#crowd = crowd;
    this.#listener = listener;
    this.#wire = new Wire(admission.target, admission.path, {
      onOpen: () => this.#wire.sendText(admission.enter),
      onMessage: (bytes, start, end) => this.#onMessage(bytes, start, end),
      onLost: (why) => {
        crowd.tally.fail(`a socket was lost: ${why}`);
        this.#forget();
      },
    });
    crowd.present.set(this.me, this);
  }

  send(to: string, kind: Kind): void {
    const { dialect, tails, tally, present } = this.#crowd;
    const count = this.#sentTo.get(to) ?? 0;
    this.#sentTo.set(to, count + 1);
    tally.sent += 1;
    const reader = present.get(to);
    if (reader === undefined) tally.excused += 1;
    else reader.#due += 1;
    this.#wire.sendParts(dialect.before(to, count) + headOf(kind, count), tails[kind]);
  }

  #onMessage(bytes: Buffer, start: number, end: number): void {
    const { dialect, tally } = this.#crowd;
    const received = dialect.read(bytes, start, end);
    switch (received.kind) {
      case 'roster-change':
        return undefined;
      case 'welcome':
        return this.#listener.onWelcome(this, received.others);
      case 'undelivered':
        tally.undelivered += 1;
        return undefined;
      case 'refused':
        return tally.fail(received.why);
      case 'signal':
        return this.#onSignal(received.from, bytes, received.at, end - dialect.after.length);
      default:
        return received satisfies never;
    }
  }

  #onSignal(from: string, bytes: Buffer, start: number, end: number): void {
    const count = this.#receivedFrom.get(from) ?? 0;
    const kind = kindOf(bytes, start);
    if (kind === undefined || !isIntact(kind, count, bytes, start, end)) {
      return this.#crowd.tally.fail(
        `message ${count} of ${from} is not what was sent: ${bytes.toString('latin1', start, start + 60)}`,
      );
    }
    this.#receivedFrom.set(from, count + 1);
    this.#crowd.tally.received += 1;
    this.#due -= 1;
    return this.#listener.onSignal(this, from, kind);
  }

  /** Leaves; messages that are still on their way here do not count as lost. */
  leave(): void {
    this.#wire.close(this.#crowd.dialect.leave);
    this.#forget();
  }

  #forget(): void {
    if (!this.#crowd.present.delete(this.me)) return;
    this.#crowd.tally.excused += this.#due;
  }
}
