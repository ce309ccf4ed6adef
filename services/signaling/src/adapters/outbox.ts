/**
 * What a pod publishes in one turn of its event loop: one write to NATS, and one message for all that goes to the same subject of another pod (BUS-16).
 * A joiner's offers and candidates arrive in one read, and each message costs both pods and the server more than its bytes do.
 */

/** Far below what NATS accepts in one message, so that a large part is sent, or refused, by itself. */
const MAX_BATCH_BYTES = 65_536;

interface Outgoing {
  readonly subject: string;
  readonly parts: Uint8Array[];
  bytes: number;
}

export class Outbox {
  readonly #publish: (subject: string, data: Uint8Array) => void;
  /** In the order in which they are published. */
  #outgoing: Outgoing[] = [];
  /** Those that take more parts, by subject. */
  readonly #open = new Map<string, Outgoing>();

  constructor(publish: (subject: string, data: Uint8Array) => void) {
    this.#publish = publish;
  }

  /** Publishes a message by itself. No later part goes into an earlier message, and so nothing overtakes it. */
  add(subject: string, data: Uint8Array): void {
    this.#open.clear();
    this.#begin(subject, data);
  }

  /** Publishes a part of a message, after a `separator` where it is not the first one. */
  addPart(subject: string, part: Uint8Array, separator?: Uint8Array): void {
    const open = this.#open.get(subject);
    if (open === undefined || open.bytes + part.length > MAX_BATCH_BYTES) {
      this.#open.set(subject, this.#begin(subject, part));
      return;
    }
    if (separator !== undefined) open.parts.push(separator);
    open.parts.push(part);
    open.bytes += part.length;
  }

  #begin(subject: string, part: Uint8Array): Outgoing {
    if (this.#outgoing.length === 0) setImmediate(() => this.#send());
    const begun = { subject, parts: [part], bytes: part.length };
    this.#outgoing.push(begun);
    return begun;
  }

  #send(): void {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    this.#open.clear();
    for (const { subject, parts } of outgoing) {
      const [first, ...more] = parts;
      if (first !== undefined) this.#publish(subject, more.length === 0 ? first : Buffer.concat(parts));
    }
  }
}
