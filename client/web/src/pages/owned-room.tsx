import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { sentence } from '../text/endings.ts';
import { moderationProblem } from '../text/moderation.ts';
import { ConfirmDialog } from '../design/confirm-dialog.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Icon } from '../design/icon.tsx';
import { TextField } from '../design/text-field.tsx';
import { setOwnerKey } from '../memory/owner-key.ts';
import { checkOwnerKey, deleteRoom } from '../rooms-api.ts';

/** The key is sent in a header. Other text is an incomplete copy, or has other characters around the key. */
const COMPLETE_KEY = /^[A-Za-z0-9_-]{20,}$/;

export interface OwnedRoomProps {
  readonly room: string;
  /** The owner key that this browser stores. */
  readonly ownerKey: string | null;
  readonly onKey: (key: string) => void;
  readonly onDeleted: () => void;
}

/** For the owner: deletes the room, or takes the owner key in another browser. */
export function OwnedRoom({ room, ownerKey: key, onKey, onDeleted }: OwnedRoomProps) {
  const [asking, setAsking] = useState(false);
  const before = useRef(key);
  useLayoutEffect(() => {
    // The pressed button is replaced by the one that deletes the room. Focus moves to the join button before a second press can delete.
    if (before.current === null && key !== null)
      document.querySelector<HTMLElement>('[data-testid="join"]')?.focus();
    before.current = key;
  }, [key]);
  if (key === null)
    return (
      <div class="owned">
        <p class="small soft">
          <Icon name="key" /> Is this your room?
        </p>
        <button
          type="button"
          class="button quiet calm"
          data-testid="have-key"
          onClick={() => setAsking(true)}
        >
          I have the owner key
        </button>
        {asking && <UseKeyDialog room={room} onClose={() => setAsking(false)} onKey={onKey} />}
      </div>
    );
  return (
    <div class="owned">
      <p class="small soft">
        <Icon name="key" /> You own this room.
      </p>
      <button type="button" class="button quiet" data-testid="delete-room" onClick={() => setAsking(true)}>
        Delete the room
      </button>
      {asking && (
        <DeleteRoomDialog room={room} ownerKey={key} onClose={() => setAsking(false)} onDeleted={onDeleted} />
      )}
    </div>
  );
}

export interface UseKeyDialogProps {
  readonly room: string;
  readonly onClose: () => void;
  readonly onKey: (key: string) => void;
}

export function UseKeyDialog({ room, onClose, onKey }: UseKeyDialogProps) {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function use(): Promise<void> {
    setBusy(true);
    const found = await problemOfKey(room, key.trim());
    setBusy(false);
    setProblem(found);
    if (found !== null) return;
    setOwnerKey(room, key.trim());
    onClose();
    onKey(key.trim());
  }

  return (
    <Dialog title="Use your owner key" onClose={onClose} testid="use-key-dialog">
      <p>
        The owner key gives you control of <strong>{room}</strong> in this browser, which stores the key.
      </p>
      <form
        class="prejoin-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void use();
        }}
      >
        <TextField
          label="Owner key"
          testid="key-input"
          value={key}
          problemId="key-problem"
          invalid={problem !== null}
          onValue={(text) => {
            setKey(text);
            setProblem(null);
          }}
        />
        <p id="key-problem" class="field-problem" role="alert">
          {problem}
        </p>
        <div class="actions">
          <button type="submit" class="button primary" data-testid="use-key" disabled={busy}>
            Use this key
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Asks the service whether the key is that of the room: `null`, or what is wrong. */
async function problemOfKey(room: string, key: string): Promise<string | null> {
  if (!COMPLETE_KEY.test(key))
    return 'This owner key is not complete. It was shown when the room was created.';
  const answer = await checkOwnerKey(room, key);
  if (answer.ok) return null;
  return answer.reason === 'OWNER_KEY_INVALID'
    ? 'This is not the owner key of this room.'
    : moderationProblem(answer.reason);
}

export interface DeleteRoomDialogProps {
  readonly room: string;
  readonly ownerKey: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteRoomDialog({ room, ownerKey: key, onClose, onDeleted }: DeleteRoomDialogProps) {
  async function remove(): Promise<string | null> {
    const answer = await deleteRoom(room, key);
    if (!answer.ok) return sentence(answer.reason);
    setOwnerKey(room, null);
    onDeleted();
    return null;
  }

  return (
    <ConfirmDialog
      title="Delete this room?"
      testid="delete"
      icon="trash"
      label="Delete the room"
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        The call ends for everyone in <strong>{room}</strong>, and its link stops working. This cannot be
        undone.
      </p>
    </ConfirmDialog>
  );
}
