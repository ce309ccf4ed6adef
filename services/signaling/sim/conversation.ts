/** Chat: a line that the service accepted reaches every participant that is here or resumes. DESIGN P2, SPEC rules CHAT-2, CHAT-4. */
import assert from 'node:assert/strict';
import type { ResumeChatLine, ChatLine } from '@parley/protocol/people';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import type { Certainty } from './certainty.ts';

/** As many lines as a client sends with a resume. */
const BROUGHT_ALONG = 20;
const FORGED_ID = 'line-forged';
const INVENTED_PROOF = 'A'.repeat(22);

interface Line {
  readonly id: string;
  readonly by: Person;
  readonly at: number;
}

export class Conversation {
  readonly #world: World;
  readonly #certainty: Certainty;
  readonly #lines: Line[] = [];

  constructor(world: World, certainty: Certainty) {
    this.#world = world;
    this.#certainty = certainty;
  }

  send(by: Person): void {
    const id = `line-${String(this.#lines.length + 1).padStart(4, '0')}`;
    this.#lines.push({ id, by, at: this.#world.now });
    by.chat(id, `${by.name} says ${id}`);
  }

  /** What the client shows, its own lines included. */
  linesOf(person: Person): ChatLine[] {
    const lines = new Map<string, ChatLine>();
    for (const message of person.log) {
      if (message.type === 'chat') lines.set(message.line.id, message.line);
      if (message.type === 'welcome') for (const line of message.chat) lines.set(line.id, line);
      if (message.type === 'chat-ack') {
        const { type: _type, ...taken } = message;
        lines.set(taken.id, { ...taken, from: person.id, text: `${person.name} says ${taken.id}` });
      }
    }
    return [...lines.values()].slice(-BROUGHT_ALONG);
  }

  /** The lines of a resume: the latest ones, and one in the name of another participant that no participant wrote. */
  broughtBy(person: Person): ResumeChatLine[] {
    const lines = this.linesOf(person).slice(1 - BROUGHT_ALONG);
    const victim = this.#world.people.find(({ id }) => id !== person.id) ?? person;
    const { id: from, name } = victim;
    const proof = lines.at(-1)?.proof ?? INVENTED_PROOF;
    return [...lines, { id: FORGED_ID, from, name, text: 'never said', at: this.#world.clock, proof }];
  }

  /** Participants that were here for a while when the line was sent, and are here now. */
  check(): void {
    for (const reader of this.#world.people) {
      const isForged = this.linesOf(reader).some((line) => line.id === FORGED_ID);
      assert.ok(!isForged, `${reader.name} was shown a forged line`);
    }
    for (const { id, by, at } of this.#lines.slice(-BROUGHT_ALONG / 2)) {
      if (!by.messagesOf('chat-ack').some((taken) => taken.id === id)) continue;
      // A line whose pod died before publishing it comes back with its sender.
      if (!by.isHere) continue;
      for (const reader of this.#world.people) {
        const { enteredAt } = reader;
        if (
          reader === by ||
          reader.view.room !== by.view.room ||
          !reader.isHere ||
          enteredAt === undefined ||
          enteredAt >= at
        )
          continue;
        if (this.#certainty.wasExcusedSince(reader.id, at)) continue;
        const has = this.linesOf(reader).some((line) => line.id === id);
        assert.ok(has, `${reader.name} has ${id} of ${by.name}, said at ${at} ms`);
      }
    }
  }
}
