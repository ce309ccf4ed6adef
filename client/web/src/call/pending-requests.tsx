/**
 * Requests that wait for an answer of the user: a newcomer in the lobby, or the owner's request to mute. Shown above all content, in little space.
 */
import type { Waiting } from '@parley/protocol/people';
import { Icon } from '../design/icon.tsx';
import { LobbyAnswers } from './owner/lobby-answers.tsx';
import type { OwnerCommands } from './owner/owner-commands.ts';
import type { CallSession } from './session.ts';

export function PendingRequests({ session }: { readonly session: CallSession }) {
  const { connection, lobby } = session.snapshot.value;
  const commands = session.ownerCommands;
  const connected = connection.status === 'connected';
  const waiting = commands && lobby.filter(({ participant }) => !commands.answered.value.has(participant));
  return (
    <div class="requests" aria-live="polite">
      {connected && session.muteRequested.value && <MuteRequest session={session} />}
      {connected && commands && waiting && waiting.length > 0 && session.panel.value !== 'people' && (
        <LobbyRequest session={session} commands={commands} waiting={waiting} />
      )}
    </div>
  );
}

function MuteRequest({ session }: { readonly session: CallSession }) {
  return (
    <div class="request" role="group" aria-label="Request to mute" data-testid="mute-requested">
      <p>
        <Icon name="mic-off" />
        An owner of the room asks you to mute.
      </p>
      <div class="request-actions">
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

interface LobbyRequestProps {
  readonly session: CallSession;
  readonly commands: OwnerCommands;
  readonly waiting: readonly Waiting[];
}

function LobbyRequest({ session, commands, waiting }: LobbyRequestProps) {
  const [first] = waiting;
  if (!first) return null;
  return (
    <div class="request" role="group" aria-label="Someone in the lobby" data-testid="lobby-request">
      <p>
        <Icon name="door" />
        <span>
          <strong>{first.name}</strong>
          {waiting.length === 1
            ? ' wants to come in.'
            : ` and ${others(waiting.length - 1)} want to come in.`}
        </span>
      </p>
      <div class="request-actions">
        {waiting.length === 1 ? (
          <LobbyAnswers
            commands={commands}
            waiting={first}
            testid="lobby-request-"
            onAnswered={() => focusOn('people')}
          />
        ) : (
          <button
            type="button"
            class="button primary"
            data-testid="lobby-request-see"
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
