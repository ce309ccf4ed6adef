/**
 * Mutations of the core, each of which the simulator must detect: they show the purpose of a rule by its absence. Text is replaced when the file is
 * loaded, and only in the process that tries the mutation.
 */

import { REGION_KINDS, type Kind } from './kinds.ts';

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
  /** The kinds of history that must detect it, where these are not the usual ones. */
  readonly kinds?: readonly Kind[];
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'no region',
    kinds: REGION_KINDS,
    edits: [{ file: 'roster/liveness.ts', find: '  judgeRegions(pod);\n', replace: '' }],
  },
  {
    name: 'expiry while cut off',
    kinds: REGION_KINDS,
    edits: [
      {
        file: 'roster/reachability.ts',
        find: 'if (mayBeBeyondCut(pod)) pod.held.push(act);',
        replace: 'if (pod.now < 0) pod.held.push(act);',
      },
      {
        file: 'roster/merge.ts',
        find: 'if (room.silent.size > 0 || mayBeBeyondCut(pod)) return Infinity;',
        replace: 'if (room.silent.size > 0) return Infinity;',
      },
    ],
  },
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
  {
    name: 'digest hash ignored',
    edits: [
      {
        file: 'roster/digest.ts',
        find: 'hashSection(section) === digest.hash;',
        replace: 'digest.hash >= 0;',
      },
    ],
  },
  {
    name: 'an older delta applied',
    edits: [{ file: 'roster/remote.ts', find: 'if (delta.seq <= section.seq) return;', replace: '' }],
  },
  {
    name: 'epoch not compared',
    edits: [
      {
        file: 'roster/remote.ts',
        find: 'if (epoch > received.epoch) return true;',
        replace: 'if (epoch < 0) return true;',
      },
    ],
  },
  {
    name: 'lobby entry outlives its pod',
    edits: [
      {
        file: 'roster/remote.ts',
        find: 'if (entry.waiting === true) section.entries.delete(participant);\n    else ',
        replace: '',
      },
    ],
  },
  {
    name: 'older epochs not ended',
    edits: [
      { file: 'roster/remote.ts', find: 'if (isFromWriter) endOlder(pod, room, received);', replace: '' },
    ],
  },
  {
    name: 'death noticed only after 8 s',
    edits: [{ file: 'roster/liveness.ts', find: 'DEAD_AFTER_MS = 3500', replace: 'DEAD_AFTER_MS = 8000' }],
  },
  {
    name: 'dead people kept 10 s too long',
    edits: [
      {
        file: 'roster/remote.ts',
        find: "const until = pod.now + pod.limits['resume.grace'];",
        replace: "const until = pod.now + pod.limits['resume.grace'] + 10_000;",
      },
    ],
  },
  {
    name: 'no word of a death',
    edits: [
      {
        file: 'roster/liveness.ts',
        find: "pod.effects.push({ type: 'publish-room', room: room.view.room, message });",
        replace: '',
      },
    ],
  },
  {
    name: 'seat leaked',
    edits: [
      {
        file: 'roster/merge.ts',
        find: 'if (before.pod === pod.id || room.seated.has(participant)) freeSeat(pod, room, participant);',
        replace: '',
      },
    ],
  },
  {
    name: 'seat given twice',
    edits: [
      {
        file: 'seating.ts',
        find: ' || room.people.has(participant)) return false;',
        replace: ') return false;',
      },
    ],
  },
  {
    name: 'seat left with the earlier pod',
    edits: [
      {
        file: 'enter.ts',
        find: "if (arrival.type === 'resume') claimSeat(pod, room, participant);",
        replace: "if (arrival.type === 'resume') {}",
      },
    ],
  },
  {
    name: 'ban ignored on another pod',
    edits: [
      {
        file: 'bus-message.ts',
        find: 'return takePolicy(pod, room, message.policy);',
        replace: 'return undefined;',
      },
    ],
  },
  {
    name: 'banned device let in',
    edits: [
      {
        file: 'join.ts',
        find: "if (isBanned(room.policy, arrival.visitor)) return 'BANNED';",
        replace: '',
      },
    ],
  },
  {
    name: 'kick not delivered',
    edits: [
      {
        file: 'bus-message.ts',
        find: 'return onModerate(pod, room, message);',
        replace: 'return undefined;',
      },
    ],
  },
  {
    name: 'kick not remembered',
    edits: [
      {
        file: 'resume.ts',
        find: "if (room.policy?.kicked.includes(participant) === true) return 'KICKED';",
        replace: '',
      },
      { file: 'resume.ts', find: 'if (claim?.gone === true) return ENDED[claim.reason];', replace: '' },
      {
        file: 'resume.ts',
        find: 'if (departure !== undefined) return ENDED[departure.reason];',
        replace: '',
      },
    ],
  },
  {
    name: 'lobby shown in the roster',
    edits: [
      {
        file: 'roster/merge.ts',
        find: 'const claim = isWaiting(strongest) ? undefined : strongest;',
        replace: 'const claim = strongest;',
      },
    ],
  },
  {
    name: 'name not shown after a change',
    edits: [{ file: 'roster/merge.ts', find: 'a.name === b.name &&', replace: '' }],
  },
  {
    name: 'media not shown after a change',
    edits: [{ file: 'roster/merge.ts', find: 'a.media.video === b.media.video &&', replace: '' }],
  },
  {
    name: 'hand not shown after a change',
    edits: [{ file: 'roster/merge.ts', find: '&&\n    a.media.hand === b.media.hand', replace: '' }],
  },
  {
    name: 'name lost by a resume',
    edits: [
      {
        file: 'enter.ts',
        find: 'const { socket, participant, generation, name, media, owner, visitor } = arrival;',
        replace:
          'const { socket, participant, generation, media, owner, visitor } = arrival; const name = room.people.get(participant)?.name.split(" #")[0] ?? arrival.name;',
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
