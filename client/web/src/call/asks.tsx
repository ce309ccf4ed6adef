/**
 * Requests that wait for an answer of the user: a newcomer in the lobby, or the owner's request to mute. Shown above all content, in little space.
 */
import type { Waiting } from '@parley/protocol/people';
import { Icon } from '../design/icon.tsx';
import type { OwnerDesk } from './owner/desk.ts';
import type { CallSession } from './session.ts';

export function Asks({ session }: { readonly session: CallSession }) {
  const { connection, lobby } = session.snapshot.value;
  const { desk } = session;
  const connected = connection.status === 'connected';
  const waiting = desk && lobby.filter(({ participant }) => !desk.answered.value.has(participant));
  return (
    <div class="asks" aria-live="polite">
      {connected && session.askedToMute.value && <MuteRequest session={session} />}
      {connected && desk && waiting && waiting.length > 0 && session.panel.value !== 'people' && (
        <Knock session={session} desk={desk} waiting={waiting} />
      )}
    </div>
  );
}

function MuteRequest({ session }: { readonly session: CallSession }) {
  return (
    <div class="ask" role="group" aria-label="Request to mute" data-testid="mute-requested">
      <p>
        <Icon name="mic-off" />
        The owner of the room asks you to mute.
      </p>
      <div class="ask-answers">
        <button
          type="button"
          class="button primary"
          data-testid="mute-yes"
          onClick={() => {
            session.answerMute('mute');
            focusOn('microphone');
          }}
        >
          Mute
        </button>
        <button
          type="button"
          class="button"
          data-testid="mute-no"
          onClick={() => {
            session.answerMute('stay');
            focusOn('microphone');
          }}
        >
          Stay unmuted
        </button>
      </div>
    </div>
  );
}

interface KnockProps {
  readonly session: CallSession;
  readonly desk: OwnerDesk;
  readonly waiting: readonly Waiting[];
}

function Knock({ session, desk, waiting }: KnockProps) {
  const [first] = waiting;
  const answer = (decide: (participant: string) => void) => () => {
    if (first) decide(first.participant);
    focusOn('people');
  };
  return (
    <div class="ask" role="group" aria-label="Someone in the lobby" data-testid="knock">
      <p>
        <Icon name="door" />
        <span>
          <strong>{first?.name}</strong>
          {waiting.length === 1
            ? ' wants to come in.'
            : ` and ${others(waiting.length - 1)} want to come in.`}
        </span>
      </p>
      <div class="ask-answers">
        {waiting.length === 1 ? (
          <>
            <button
              type="button"
              class="button primary"
              data-testid="knock-admit"
              onClick={answer((id) => desk.admit(id))}
            >
              Admit
            </button>
            <button
              type="button"
              class="button"
              data-testid="knock-deny"
              onClick={answer((id) => desk.deny(id))}
            >
              Refuse
            </button>
          </>
        ) : (
          <button
            type="button"
            class="button primary"
            data-testid="knock-see"
            onClick={() => session.openPanel('people')}
          >
            See who
          </button>
        )}
      </div>
    </div>
  );
}

const others = (count: number): string => (count === 1 ? 'one more' : `${count} others`);

/** The pressed button will be removed: the focus moves to the related control. */
function focusOn(control: string): void {
  document.querySelector<HTMLElement>(`[data-testid="control-${control}"]`)?.focus();
}
