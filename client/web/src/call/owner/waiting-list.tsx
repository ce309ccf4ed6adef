import type { Waiting } from '@parley/protocol/people';
import { focusPanel } from '../panel.tsx';
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
              for (const { participant } of waiting) commands.admit(participant);
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
  const busy = commands.answered.value.has(participant);
  const answer = (decide: (participant: string) => void) => () => {
    decide(participant);
    focusPanel();
  };
  return (
    <li class="person" data-testid="waiting-person" aria-busy={busy}>
      <span class="person-name">{name}</span>
      <span class="waiting-actions">
        <button
          type="button"
          class="button primary"
          data-testid="admit"
          aria-label={`Admit ${name}`}
          disabled={busy}
          onClick={answer((id) => commands.admit(id))}
        >
          Admit
        </button>
        <button
          type="button"
          class="button quiet"
          data-testid="deny"
          aria-label={`Refuse ${name}`}
          disabled={busy}
          onClick={answer((id) => commands.deny(id))}
        >
          Refuse
        </button>
      </span>
    </li>
  );
}
