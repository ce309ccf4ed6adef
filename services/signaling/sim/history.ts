/** The history of one seed: the world, and the events in it. */
import type { RoomView } from '@parley/protocol/http';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import type { Certainty } from './certainty.ts';
import type { Conversation } from './conversation.ts';
import type { Faults } from './kinds.ts';
import type { ClientViews } from './client-views.ts';
import type { DirectedMessages } from './directed-messages.ts';
import type { Owners } from './owners.ts';

export interface Tab {
  readonly older: Person;
  readonly newer: Person;
}

export interface History {
  readonly world: World;
  readonly faults: Faults;
  readonly names: readonly string[];
  readonly rooms: readonly RoomView[];
  readonly certainty: Certainty;
  readonly directed: DirectedMessages;
  readonly conversation: Conversation;
  readonly views: ClientViews;
  readonly owners: Owners;
  /** Participants that left, or were away for too long to resume, and since when. */
  readonly gone: Map<Person, number>;
  /** When a killed pod starts again. */
  readonly restarts: Map<string, number>;
  /** Pods that do not run, and when they were killed. */
  readonly dead: Map<string, number>;
  /** When a link, or the bus, first broke for long enough to be taken for the death of a pod. */
  longCutAt: number;
  /** Until then no other message is lost: the last one of a pod that was killed may have been. */
  sparedUntil: number;
  /** The latest times at which cut links and the bus are restored. */
  busBackAt: number;
  stopped: readonly string[];
  /** Participants that were opened in a second tab. */
  readonly tabs: Tab[];
  healAt: number;
  /** When the regions reach each other again. */
  regionsHealAt: number;
  /** When something last happened that takes long to be detected. */
  diedAt: number;
  vanishedAt: number;
  step: number;
  readonly events: string[];
  /** How many names were given. */
  changes: number;
  /** Newcomers that wait in a lobby, by the end of the last step. */
  readonly waiting: Set<Person>;
  readonly denied: Set<Person>;
}
