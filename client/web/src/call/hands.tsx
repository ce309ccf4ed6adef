import type { ParticipantId } from '@parley/protocol/ids';
import { CallIcon } from './call-icon.tsx';
import { focusPanel } from './panel.tsx';
import type { CallSession } from './session.ts';

/** The place in the queue, 1 for the first; 0: the hand is not raised. */
export const placeOf = (session: CallSession, participant: ParticipantId | null): number =>
  participant === null ? 0 : session.snapshot.value.hands.indexOf(participant) + 1;

interface HandMarkProps {
  readonly session: CallSession;
  readonly participant: ParticipantId | null;
  /** Where it is shown. */
  readonly on: 'tile' | 'row';
}

/** A raised hand with its place in the queue. */
export function HandMark({ session, participant, on }: HandMarkProps) {
  const place = placeOf(session, participant);
  if (place === 0) return null;
  return (
    <span class={`hand-mark ${on}-hand`} data-testid={`${on}-hand`} data-place={place}>
      <CallIcon name="hand" />
      <span class="visually-hidden">hand raised, number </span>
      {place}
    </span>
  );
}

/** In the order in which they were raised. */
export function HandQueue({ session }: { readonly session: CallSession }) {
  const { hands, me, people } = session.snapshot.value;
  if (hands.length === 0) return null;
  const commands = me.owner ? session.ownerCommands : null;
  const nameOf = (participant: ParticipantId) =>
    participant === me.participant
      ? `${me.name} (you)`
      : (people.find((person) => person.participant === participant)?.name ?? '');
  /** `undefined`: this participant may not lower the hand, or not now. */
  const lowerOf = (participant: ParticipantId): (() => void) | undefined => {
    if (participant === me.participant) return () => session.toggleHand();
    const person = people.find((one) => one.participant === participant);
    if (commands === null || person?.presence !== 'here') return undefined;
    return () => void commands.lowerHand(participant);
  };
  return (
    <section class="hands" aria-labelledby="hands-title" data-testid="hands">
      <h3 id="hands-title">
        <CallIcon name="hand" />
        Raised hands ({hands.length})
      </h3>
      <ol>
        {hands.map((participant) => (
          <HandInQueue
            key={participant}
            participant={participant}
            name={nameOf(participant)}
            onLower={lowerOf(participant)}
          />
        ))}
      </ol>
    </section>
  );
}

interface HandInQueueProps {
  readonly participant: ParticipantId;
  readonly name: string;
  readonly onLower: (() => void) | undefined;
}

function HandInQueue({ participant, name, onLower }: HandInQueueProps) {
  return (
    <li data-participant={participant}>
      <span class="hand-name">{name}</span>
      {onLower && (
        <button
          type="button"
          class="button quiet"
          data-testid="lower-hand"
          aria-label={`Lower the hand of ${name}`}
          onClick={() => {
            onLower();
            focusPanel();
          }}
        >
          Lower
        </button>
      )}
    </li>
  );
}
