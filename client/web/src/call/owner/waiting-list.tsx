import type { Waiting } from '@parley/protocol/people';
import { focusPanel } from '../panel.tsx';
import { LobbyAnswers } from './lobby-answers.tsx';
import type { OwnerCommands } from './owner-commands.ts';

/** The newcomers in the lobby, at the top of the list of participants. */
export function WaitingList({
  commands,
  lobby,
}: {
  readonly commands: OwnerCommands;
  readonly lobby: readonly Waiting[];
}) {
  const waiting = lobby.filter(({ participant }) => !commands.answered.value.has(participant));
  return (
    <section class="waiting" aria-labelledby="waiting-title" data-testid="waiting-list">
      <div class="waiting-head">
        <h3 id="waiting-title" aria-live="polite">
          At the door{lobby.length > 1 && ` (${lobby.length})`}
        </h3>
        {waiting.length > 1 && (
          <button
            type="button"
            class="button quiet"
            data-testid="admit-all"
            onClick={() => {
              for (const { participant } of waiting) commands.answerNewcomer(participant, 'admit');
              focusPanel();
            }}
          >
            Admit all
          </button>
        )}
      </div>
      <ul>
        {lobby.map((one) => (
          <WaitingPerson key={one.participant} commands={commands} waiting={one} />
        ))}
      </ul>
    </section>
  );
}

function WaitingPerson({
  commands,
  waiting,
}: {
  readonly commands: OwnerCommands;
  readonly waiting: Waiting;
}) {
  const { participant, name } = waiting;
  return (
    <li class="person" data-testid="waiting-person" aria-busy={commands.answered.value.has(participant)}>
      <span class="person-name">{name}</span>
      <span class="waiting-actions">
        <LobbyAnswers commands={commands} waiting={waiting} testid="" onAnswered={focusPanel} />
      </span>
    </li>
  );
}
