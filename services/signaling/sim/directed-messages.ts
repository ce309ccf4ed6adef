/** Directed messages: each is delivered at most once, or its sender is notified within 2 s. DESIGN P7, SPEC rules DIR-4, DIR-5. */
import assert from 'node:assert/strict';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';

const NOTIFY_TIMEOUT_MS = 2000;

interface DirectedMessage {
  readonly id: string;
  readonly from: Person;
  readonly socket: number;
  readonly to: string;
  readonly at: number;
}

export class DirectedMessages {
  readonly #world: World;
  #open: DirectedMessage[] = [];
  #count = 0;
  #checkedUpTo = 0;
  readonly #addressed = new Map<string, string | undefined>();
  readonly #arrived = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  send(from: Person, to: Person): void {
    if (from.line.state !== 'here') return;
    this.#count += 1;
    const id = `message-${this.#count}`;
    // To a participant of another room it is never delivered.
    this.#addressed.set(id, from.view.room === to.view.room ? to.id : undefined);
    this.#open.push({ id, from, socket: from.line.socket, to: to.id, at: this.#world.now });
    from.send(to, id, id);
  }

  /** Must be called after every step. */
  check(): void {
    const { handedOn, now } = this.#world;
    for (const { to, text } of handedOn.slice(this.#checkedUpTo)) {
      assert.equal(to, this.#addressed.get(text), `${text} went to its reader`);
      assert.ok(!this.#arrived.has(text), `${text} was handed on twice`);
      this.#arrived.add(text);
    }
    this.#checkedUpTo = handedOn.length;
    const isDue = ({ at }: DirectedMessage): boolean => now - at > NOTIFY_TIMEOUT_MS;
    for (const message of this.#open.filter(isDue)) {
      assert.ok(
        this.#isSettled(message),
        `${message.from.name} was never notified that ${message.id} to ${message.to} was not delivered`,
      );
    }
    this.#open = this.#open.filter((message) => !isDue(message));
  }

  /** A sender that has lost its socket meanwhile cannot be notified. */
  #isSettled({ id, from, socket }: DirectedMessage): boolean {
    if (this.#arrived.has(id)) return true;
    if (!('socket' in from.line) || from.line.socket !== socket) return true;
    return from.messagesOf('undelivered').some((message) => message.id === id);
  }
}
