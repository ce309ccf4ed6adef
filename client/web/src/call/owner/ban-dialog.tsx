import type { ParticipantId } from '@parley/protocol/ids';
import { useState } from 'preact/hooks';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import type { OwnerCommands } from './owner-commands.ts';

export interface BanDialogProps {
  readonly commands: OwnerCommands;
  readonly participant: ParticipantId;
  readonly name: string;
  readonly onClose: () => void;
}

export function BanDialog({ commands, participant, name, onClose }: BanDialogProps) {
  const [network, setNetwork] = useState(false);

  async function ban(): Promise<string | null> {
    const problem = await commands.ban(participant, network);
    if (problem === null) onClose();
    return problem;
  }

  return (
    <ConfirmDialog
      title={`Ban ${name}?`}
      testid="ban"
      icon="ban"
      label={network ? 'Ban the network' : 'Ban this device'}
      onConfirm={ban}
      onClose={onClose}
    >
      <p>The person is removed at once. The ban applies until you lift it.</p>
      <fieldset class="choices">
        <legend class="visually-hidden">Extent of the ban</legend>
        <Choice
          id="device"
          title="This device"
          text="The browser that the person uses now. The person can return with another one, or after clearing its data."
          chosen={!network}
          onChoose={() => setNetwork(false)}
        />
        <Choice
          id="network"
          title="Everyone on the same network"
          text="Also all other people at the same home, school or office. This is harder to circumvent, but may affect people who did nothing wrong."
          chosen={network}
          onChoose={() => setNetwork(true)}
        />
      </fieldset>
    </ConfirmDialog>
  );
}

interface ChoiceProps {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}

function Choice({ id, title, text, chosen, onChoose }: ChoiceProps) {
  return (
    <label class="choice">
      <input
        type="radio"
        name="ban-covers"
        data-testid={`ban-${id}`}
        checked={chosen}
        aria-describedby={`ban-${id}-text`}
        onChange={onChoose}
      />
      <span>
        <strong>{title}</strong>
        <span class="soft small" id={`ban-${id}-text`}>
          {text}
        </span>
      </span>
    </label>
  );
}
