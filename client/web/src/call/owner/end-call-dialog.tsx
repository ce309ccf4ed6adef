import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import type { OwnerCommands } from './owner-commands.ts';

interface EndCallDialogProps {
  readonly commands: OwnerCommands;
  readonly onClose: () => void;
}

/** The call of the owner ends too, and the dialog with it. */
export function EndCallDialog({ commands, onClose }: EndCallDialogProps) {
  return (
    <ConfirmDialog
      title="End the call for everyone?"
      testid="end-call"
      icon="leave"
      label="End for everyone"
      onConfirm={() => commands.endCall()}
      onClose={onClose}
    >
      <p>Everyone leaves at once, you and people in the lobby included.</p>
      <p class="soft">
        The room stays, and people with the link can open it again. Lock the room first if they should not.
      </p>
    </ConfirmDialog>
  );
}
