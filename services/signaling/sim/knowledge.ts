/**
 * Which processes know the newest claim of each participant, and its newest name and media. What only processes knew that have died, or have closed
 * the room since, is lost: only the participant's client remembers it (RES-7).
 */
import type { Person as Row } from '../src/core/person.ts';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import type { WorldPod } from '../test/support/world-pod.ts';

interface Known<What> {
  readonly what: What;
  readonly by: Set<WorldPod>;
}

export class Knowledge {
  readonly #world: World;
  readonly #claims = new Map<string, Known<number>>();
  readonly #shown = new Map<string, Known<string>>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Must be called after every step, and before a pod is killed. */
  look(person: Person): void {
    const { id, shown, view } = person;
    const rows = this.#rowsOf(person);
    const newest = Math.max(...[...rows.values()].map(({ generation }) => generation));
    const generation = Math.max(newest, this.#claims.get(id)?.what ?? -Infinity);
    const claims = knownOf(this.#claims, id, generation);
    const looks = knownOf(this.#shown, id, lookOf(shown));
    for (const [pod, row] of rows) {
      if (row.generation === claims.what) claims.by.add(pod);
      if (lookOf(row) === looks.what) looks.by.add(pod);
    }
    for (const known of [claims, looks])
      for (const pod of known.by) if (!pod.running || isClosed(pod, view.room)) known.by.delete(pod);
  }

  isClaimLost = (id: string): boolean => this.#claims.get(id)?.by.size === 0;

  isLookLost = (id: string): boolean => this.#shown.get(id)?.by.size === 0;

  #rowsOf({ id, view }: Person): Map<WorldPod, Row> {
    const rows = new Map<WorldPod, Row>();
    for (const pod of this.#world.pods.values()) {
      const row = pod.core.people(view.room).find(({ participant }) => participant === id);
      if (row !== undefined) rows.set(pod, row);
    }
    return rows;
  }
}

function knownOf<What>(all: Map<string, Known<What>>, id: string, what: What): Known<What> {
  const before = all.get(id);
  const known = before?.what === what ? before : { what, by: new Set<WorldPod>() };
  all.set(id, known);
  return known;
}

const lookOf = ({ name, media }: Pick<Row, 'name' | 'media'>): string =>
  JSON.stringify([name, media.audio, media.video, media.screen, media.hand]);

const isClosed = ({ core }: WorldPod, room: string): boolean =>
  core.population(room) === 0 && core.view(room) === undefined;
