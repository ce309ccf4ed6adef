import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { Icon, type IconName } from './icon.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  readonly testid: string;
  readonly children: ComponentChildren;
  readonly icon: IconName;
  readonly label: string;
  /** Resolves with a sentence if the action failed, otherwise with `null`. */
  readonly onConfirm: () => Promise<string | null>;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone easily, and shows the reason if it failed. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, testid, children, icon, label, onConfirm, onClose } = props;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function confirm(): Promise<void> {
    setBusy(true);
    setProblem(null);
    setProblem(await onConfirm());
    setBusy(false);
  }

  return (
    <Dialog title={title} onClose={onClose} testid={`${testid}-dialog`}>
      {children}
      {problem && (
        <p class="field-problem" role="alert" data-testid={`${testid}-problem`}>
          {problem}
        </p>
      )}
      <div class="actions">
        <button
          type="button"
          class="button danger"
          data-testid={`${testid}-confirm`}
          disabled={busy}
          onClick={() => void confirm()}
        >
          <Icon name={icon} />
          {label}
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
