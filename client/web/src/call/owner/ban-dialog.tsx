import type { ParticipantId } from '@parley/protocol/ids';
import { useState } from 'preact/hooks';
import { Dialog } from '../../design/dialog.tsx';
import { Icon } from '../../design/icon.tsx';
import type { OwnerCommands } from './owner-commands.ts';

export interface BanDialogProps {
  readonly commands: OwnerCommands;
  readonly participant: ParticipantId;
  readonly name: string;
  readonly onClose: () => void;
}

export function BanDialog({ commands, participant, name, onClose }: BanDialogProps) {
  const [network, setNetwork] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function ban(): Promise<void> {
    setBusy(true);
    setProblem(null);
    const failed = await commands.ban(participant, network);
    setBusy(false);
    if (failed === null) onClose();
    else setProblem(failed);
  }

  return (
    <Dialog title={`Ban ${name}?`} onClose={onClose} testid="ban-dialog">
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
      {problem && (
        <p class="field-problem" role="alert" data-testid="ban-problem">
          {problem}
        </p>
      )}
      <div class="actions">
        <button
          type="button"
          class="button danger"
          data-testid="ban-confirm"
          disabled={busy}
          onClick={() => void ban()}
        >
          <Icon name="ban" />
          {network ? 'Ban the network' : 'Ban this device'}
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
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
