/** A history of one seed: the world, and what has happened in it. */
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import type { Certainty } from './certainty.ts';
import type { Conversation } from './conversation.ts';
import type { Faults } from './kinds.ts';
import type { Letters } from './letters.ts';

export interface Tab {
  readonly older: Person;
  readonly newer: Person;
}

export interface History {
  readonly world: World;
  readonly faults: Faults;
  readonly names: readonly string[];
  readonly certainty: Certainty;
  readonly letters: Letters;
  readonly conversation: Conversation;
  /** Who has left, or has been away for too long to come back, and since when. */
  readonly gone: Map<Person, number>;
  /** When a killed pod starts again. */
  readonly restarts: Map<string, number>;
  /** When links that are cut heal at the latest, and the bus comes back. */
  busBackAt: number;
  stopped: readonly string[];
  /** People who were opened in a second tab. */
  readonly tabs: Tab[];
  healAt: number;
  /** When something happened last that takes long to be noticed. */
  diedAt: number;
  vanishedAt: number;
  step: number;
  readonly did: string[];
}
