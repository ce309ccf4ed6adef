import type { Waiting } from '@parley/protocol/people';
import type { OwnerCommands } from './owner-commands.ts';

const LABELS = { admit: 'Admit', deny: 'Refuse' } as const;

interface LobbyAnswersProps {
  readonly commands: OwnerCommands;
  readonly waiting: Waiting;
  /** The prefix of the test ids of both buttons. */
  readonly testid: string;
  readonly onAnswered: () => void;
}

/** The buttons that admit or refuse a newcomer. */
export function LobbyAnswers({ commands, waiting, testid, onAnswered }: LobbyAnswersProps) {
  const { participant, name } = waiting;
  return (
    <>
      {(['admit', 'deny'] as const).map((answer) => (
        <button
          key={answer}
          type="button"
          class={`button ${answer === 'admit' ? 'primary' : 'quiet'}`}
          data-testid={testid + answer}
          aria-label={`${LABELS[answer]} ${name}`}
          disabled={commands.answered.value.has(participant)}
          onClick={() => {
            commands.answerNewcomer(participant, answer);
            onAnswered();
          }}
        >
          {LABELS[answer]}
        </button>
      ))}
    </>
  );
}
