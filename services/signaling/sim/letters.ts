/** Directed messages: each is delivered at most once, or its sender is notified within 2 s. DESIGN P7, SPEC rules DIR-4, DIR-5. */
import assert from 'node:assert/strict';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';

const TOLD_WITHIN_MS = 2000;

interface Letter {
  readonly id: string;
  readonly from: Person;
  readonly socket: number;
  readonly to: string;
  readonly at: number;
}

export class Letters {
  readonly #world: World;
  #open: Letter[] = [];
  #count = 0;
  #checkedUpTo = 0;
  readonly #addressed = new Map<string, string>();
  readonly #arrived = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  send(from: Person, to: Person): void {
    if (from.line.state !== 'here') return;
    this.#count += 1;
    const id = `letter-${this.#count}`;
    this.#addressed.set(id, to.id);
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
    const isDue = ({ at }: Letter): boolean => now - at > TOLD_WITHIN_MS;
    for (const letter of this.#open.filter(isDue)) {
      assert.ok(
        this.#isSettled(letter),
        `${letter.from.name} was never notified that ${letter.id} to ${letter.to} was not delivered`,
      );
    }
    this.#open = this.#open.filter((letter) => !isDue(letter));
  }

  /** A sender that has lost its socket meanwhile cannot be notified. */
  #isSettled({ id, from, socket }: Letter): boolean {
    if (this.#arrived.has(id)) return true;
    if (!('socket' in from.line) || from.line.socket !== socket) return true;
    return from.messagesOf('undelivered').some((message) => message.id === id);
  }
}
