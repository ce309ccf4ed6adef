/**
 * Owners' requests about a participant. The pod that holds the participant carries a request out, whichever pod received it. The request goes to the
 * room's subject and is repeated until a pod has answered. SPEC rules MOD-1, MOD-2, MOD-4, MOD-5, MOD-10, HAND-4.
 */
import type { Moderate, Moderated, ModerationAction } from '@parley/protocol/bus';
import type { ParticipantId } from '@parley/protocol/ids';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { Input } from './input.ts';
import { remove } from './leave.ts';
import { admit, deny, waitingEntry } from './lobby.ts';
import { putOwn } from './roster/section.ts';
import type { Requester, Pod, Room } from './state.ts';

/** The first request may be lost, and the participant may be moving between two pods. */
const REQUEST_AT_MS = [0, 300, 1200] as const;
const GIVE_UP_MS = 3000;
/** To admit a newcomer may take a seat, and thus a slow store 5 s. */
const GIVE_UP_ADMITTING_MS = 6000;

interface Result {
  /** `undefined`: this pod cannot answer. */
  readonly outcome: Moderated['outcome'] | undefined;
  readonly name: string | undefined;
  readonly visitor: VisitorMarks | undefined;
}

/** An owner's request to this pod. The answer is the effect `moderated`. */
export function moderate(
  pod: Pod,
  { ref, room: id, action, participant }: Input & { type: 'moderate' },
): void {
  const room = pod.rooms.get(id);
  const giveUpMs = action === 'admit' ? GIVE_UP_ADMITTING_MS : GIVE_UP_MS;
  const deadline = pod.agenda.schedule(pod.now + giveUpMs, () => finish(pod, ref, UNKNOWN));
  const message: Moderate = { type: 'moderate', room: id, pod: pod.id, ref, action, participant };
  const repeats = REQUEST_AT_MS.map((after) =>
    pod.agenda.schedule(pod.now + after, () => pod.effects.push({ type: 'publish-room', room: id, message })),
  );
  pod.requests.set(ref, { deadline, repeats });
  if (room !== undefined) answerRequester(pod, { pod: pod.id, ref }, act(pod, room, message));
}

/** A request that another pod received. */
export function onModerate(pod: Pod, room: Room, message: Moderate): void {
  answerRequester(pod, message, act(pod, room, message));
}

/** Another pod has carried out a request of this one. */
export function onModerated(pod: Pod, { ref, outcome, name, visitor }: Moderated): void {
  finish(pod, ref, { outcome, name, visitor });
}

export function answerRequester(
  pod: Pod,
  { pod: to, ref }: Requester,
  { outcome, name, visitor }: Result,
): void {
  if (outcome === undefined) return;
  if (to === pod.id) {
    finish(pod, ref, { outcome, name, visitor });
    return;
  }
  const message: Moderated = {
    type: 'moderated',
    pod: pod.id,
    ref,
    outcome,
    ...(name === undefined ? {} : { name }),
    ...(visitor === undefined ? {} : { visitor }),
  };
  pod.effects.push({ type: 'publish-pod', pod: to, message });
}

const UNKNOWN = { outcome: 'unknown', name: undefined, visitor: undefined } as const;

function finish(pod: Pod, ref: number, result: Result | typeof UNKNOWN): void {
  const request = pod.requests.get(ref);
  const { outcome, name, visitor } = result;
  if (request === undefined || outcome === undefined) return;
  pod.requests.delete(ref);
  request.deadline.cancel();
  for (const repeat of request.repeats) repeat.cancel();
  pod.effects.push({ type: 'moderated', ref, outcome, name, visitor });
}

/** A repeated request has the same result, as the answer may have been lost. */
function act(pod: Pod, room: Room, { action, participant, pod: asking, ref }: Moderate): Result {
  const person = room.people.get(participant) ?? room.lobby.get(participant);
  const { name, visitor } = person ?? {};
  return { outcome: ACTIONS[action](pod, room, participant, { pod: asking, ref }), name, visitor };
}

type Action = (
  pod: Pod,
  room: Room,
  participant: ParticipantId,
  requester: Requester,
) => Moderated['outcome'] | undefined;

const ACTIONS: Readonly<Record<ModerationAction, Action>> = {
  identify: (_pod, room, participant) =>
    room.people.has(participant) || room.lobby.has(participant) ? 'done' : undefined,
  kick: (pod, room, participant) =>
    remove(pod, room, participant, 'kicked') ?? (isHeldByDeadPod(room, participant) ? 'done' : undefined),
  ban: (pod, room, participant) => remove(pod, room, participant, 'banned'),
  'request-mute': (pod, room, participant) => {
    const presence = room.own.entries.get(participant)?.presence;
    if (presence?.state !== 'here') return undefined;
    pod.effects.push({ type: 'send', sockets: [presence.socket], message: { type: 'mute-requested' } });
    return 'done';
  },
  'lower-hand': (pod, room, participant) => {
    const entry = room.own.entries.get(participant);
    if (entry?.presence.state !== 'here') return undefined;
    const { hand, ...media } = entry.media;
    if (hand === undefined) return 'done';
    putOwn(pod, room, { ...entry, media });
    const message = { type: 'hand-lowered' } as const;
    pod.effects.push({ type: 'send', sockets: [entry.presence.socket], message });
    return 'done';
  },
  admit: (pod, room, participant, requester) => {
    const waiting = waitingEntry(room, participant);
    if (waiting !== undefined) {
      admit(pod, room, waiting, requester);
      return undefined;
    }
    return room.own.entries.has(participant) ? 'done' : undefined;
  },
  deny: (pod, room, participant) => {
    const waiting = waitingEntry(room, participant);
    if (waiting === undefined) return wasRemovedHere(pod, room, participant) ? 'done' : undefined;
    deny(pod, room, waiting);
    return 'done';
  },
};

/** The pod of the participant cannot answer any more. The store's record of the kick prevents a resume. */
function isHeldByDeadPod(room: Room, participant: ParticipantId): boolean {
  const person = room.people.get(participant);
  const sections = [...(room.sections.get(person?.pod ?? '')?.values() ?? [])];
  return sections.some(
    ({ dead, entries }) => dead && entries.get(participant)?.generation === person?.generation,
  );
}

const wasRemovedHere = (pod: Pod, room: Room, participant: ParticipantId): boolean =>
  room.tombstones.get(participant)?.pod === pod.id;
