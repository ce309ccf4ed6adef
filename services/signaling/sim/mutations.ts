/**
 * Mutations of the core, each of which the simulator must detect: they show the purpose of a rule by its absence. Text is replaced when the file is
 * loaded, and only in the process that tries the mutation.
 */

export interface Edit {
  /** Below `src/core`. */
  readonly file: string;
  /** Must occur in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutation {
  readonly name: string;
  readonly edits: readonly Edit[];
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'no generation',
    edits: [
      {
        file: 'roster/tombstones.ts',
        find: 'if (a.generation !== b.generation) return a.generation > b.generation;',
        replace: '',
      },
    ],
  },
  {
    name: 'a single hello',
    edits: [{ file: 'roster/open.ts', find: '= [0, 250, 1000] as const', replace: '= [0] as const' }],
  },
  {
    name: 'no tombstones',
    edits: [
      {
        file: 'roster/tombstones.ts',
        find: 'if (known === undefined || isStronger(gone, known)) room.tombstones.set(participant, gone);',
        replace:
          'if (known !== undefined && isStronger(gone, known)) room.tombstones.set(participant, gone);',
      },
    ],
  },
  {
    name: 'lease by wall clock',
    edits: [
      {
        file: 'roster/section.ts',
        find: 'awayMs: Math.max(0, Math.round(presence.until - pod.now))',
        replace: 'awayMs: Math.round(presence.until)',
      },
      {
        file: 'roster/section.ts',
        find: 'awayMs: Math.round(awayUntil - pod.now)',
        replace: 'awayMs: Math.round(awayUntil)',
      },
      {
        file: 'roster/remote.ts',
        find: 'awayMs === undefined ? undefined : pod.now + awayMs',
        replace: 'awayMs',
      },
    ],
  },
  {
    name: 'welcome before answers',
    edits: [
      { file: 'roster/open.ts', find: 'if (peers.length > 0 || isYoung) {', replace: 'if (pod.now < 0) {' },
    ],
  },
  {
    name: 'departures forgotten with the room',
    edits: [
      {
        file: 'resume.ts',
        find: 'if (departure !== undefined) return ENDED[departure.reason];',
        replace: '',
      },
    ],
  },
  {
    name: 'departures kept to oneself',
    edits: [
      {
        file: 'roster/answer.ts',
        find: 'message: departures.length === 0 ? message : { ...message, departures },',
        replace: 'message,',
      },
    ],
  },
  {
    name: 'digest without epoch',
    edits: [
      {
        file: 'roster/digest.ts',
        find: 'const section = remoteSectionOf(room, digest.pod, digest.epoch);',
        replace: 'const section = room.sections.get(digest.pod)?.values().next().value;',
      },
    ],
  },
];

export function mutationOf(name: string): Mutation {
  const mutation = MUTATIONS.find((known) => known.name === name);
  if (mutation === undefined) throw new Error(`there is no mutation "${name}"`);
  return mutation;
}

/** The source after the edits; throws where a text to be replaced does not occur exactly once. */
export function mutate(source: string, edits: readonly Edit[]): string {
  let mutated = source;
  for (const { file, find, replace } of edits) {
    const parts = mutated.split(find);
    if (parts.length !== 2) throw new Error(`${file} has "${find}" ${parts.length - 1} times, not once`);
    mutated = parts.join(replace);
  }
  return mutated;
}
