/** The roster over time: follows messages, and drops participants that were kept and did not return. */
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import type { Clock } from '../ports.ts';
import { emptyRoster, withoutExpired, afterMessage, nextExpiry, welcomed, type Roster } from './roster.ts';

export class RosterKeeper {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  #roster = emptyRoster;
  #cancel: () => void = () => undefined;

  /** `onChange`: the passing of time changed the roster. */
  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get now(): Roster {
    return this.#roster;
  }

  /** `fresh`: this client is a new participant and knows no other. */
  welcomed(welcome: Welcome, fresh: boolean): void {
    this.#set(welcomed(fresh ? emptyRoster : this.#roster, welcome, this.#clock.now()));
  }

  /** Returns whether the message changed the roster. */
  receive(message: ServerMessage): boolean {
    const roster = afterMessage(this.#roster, message);
    if (roster === this.#roster) return false;
    this.#set(roster);
    return true;
  }

  clear(): void {
    this.#set(emptyRoster);
  }

  close(): void {
    this.#cancel();
  }

  #set(roster: Roster): void {
    this.#roster = roster;
    this.#cancel();
    const expiry = nextExpiry(roster);
    if (expiry === null) return;
    this.#cancel = this.#clock.after(Math.max(0, expiry - this.#clock.now()), () => {
      this.#set(withoutExpired(this.#roster, this.#clock.now()));
      this.#onChange();
    });
  }
}
