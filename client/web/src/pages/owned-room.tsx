import { useState } from 'preact/hooks';
import { sentence } from '../copy/endings.ts';
import { Dialog } from '../design/dialog.tsx';
import { Icon } from '../design/icon.tsx';
import { ownerKey, setOwnerKey } from '../memory/owner-key.ts';
import { deleteRoom } from '../rooms-api.ts';

/** For whoever made the room in this browser: the way to delete it. */
export function OwnedRoom({ room, onDeleted }: { readonly room: string; readonly onDeleted: () => void }) {
  const [asking, setAsking] = useState(false);
  const key = ownerKey(room);
  if (key === null) return null;
  return (
    <div class="owned">
      <p class="small soft">
        <Icon name="key" /> You own this room.
      </p>
      <button type="button" class="button quiet" data-testid="delete-room" onClick={() => setAsking(true)}>
        Delete it
      </button>
      {asking && (
        <DeleteRoomDialog room={room} ownerKey={key} onClose={() => setAsking(false)} onDeleted={onDeleted} />
      )}
    </div>
  );
}

export interface DeleteRoomDialogProps {
  readonly room: string;
  readonly ownerKey: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteRoomDialog({ room, ownerKey: key, onClose, onDeleted }: DeleteRoomDialogProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function remove(): Promise<void> {
    setBusy(true);
    const answer = await deleteRoom(room, key);
    setBusy(false);
    if (answer.ok) {
      setOwnerKey(room, null);
      onDeleted();
    } else setProblem(sentence(answer.reason));
  }

  return (
    <Dialog title="Delete this room?" onClose={onClose} testid="delete-dialog">
      <p>
        The call ends for everyone in <strong>{room}</strong>, and its link stops working. This cannot be
        undone.
      </p>
      {problem && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
      <div class="actions">
        <button
          type="button"
          class="button danger"
          data-testid="delete-confirm"
          disabled={busy}
          onClick={() => void remove()}
        >
          <Icon name="trash" />
          Delete the room
        </button>
        <button type="button" class="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
