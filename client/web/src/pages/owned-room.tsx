import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { sentence } from '../copy/endings.ts';
import { moderationProblem } from '../copy/moderation.ts';
import { Dialog } from '../design/dialog.tsx';
import { Icon } from '../design/icon.tsx';
import { setOwnerKey } from '../memory/owner-key.ts';
import { checkOwnerKey, deleteRoom } from '../rooms-api.ts';

/** What may stand in a header: anything else was not copied whole, or with something around it. */
const LIKE_A_KEY = /^[A-Za-z0-9_-]{20,}$/;

export interface OwnedRoomProps {
  readonly room: string;
  /** The owner key that this browser keeps. */
  readonly ownerKey: string | null;
  readonly onKey: (key: string) => void;
  readonly onDeleted: () => void;
}

/** For the owner: the way to delete the room, and in another browser to be its owner again. */
export function OwnedRoom({ room, ownerKey: key, onKey, onDeleted }: OwnedRoomProps) {
  const [asking, setAsking] = useState(false);
  const before = useRef(key);
  useLayoutEffect(() => {
    // What was pressed is gone, and joining is what comes next: at once, as the button that deletes stands in its place.
    if (before.current === null && key !== null)
      document.querySelector<HTMLElement>('[data-testid="join"]')?.focus();
    before.current = key;
  }, [key]);
  if (key === null)
    return (
      <div class="owned">
        <p class="small soft">
          <Icon name="key" /> Is it your room?
        </p>
        <button
          type="button"
          class="button quiet calm"
          data-testid="have-key"
          onClick={() => setAsking(true)}
        >
          I have its key
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
        Delete it
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
    const given = key.trim();
    if (!LIKE_A_KEY.test(given)) {
      setProblem('That is not a whole owner key. It was shown when the room was made.');
      return;
    }
    setBusy(true);
    const answer = await checkOwnerKey(room, given);
    setBusy(false);
    if (answer.ok) {
      setOwnerKey(room, given);
      onClose();
      onKey(given);
    } else
      setProblem(
        answer.reason === 'OWNER_KEY_INVALID'
          ? 'This is not the key of this room.'
          : moderationProblem(answer.reason),
      );
  }

  return (
    <Dialog title="Use your owner key" onClose={onClose} testid="use-key-dialog">
      <p>
        It makes you the owner of <strong>{room}</strong> in this browser too, which remembers it.
      </p>
      <form
        class="prejoin-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void use();
        }}
      >
        <label class="field">
          <span class="label">Owner key</span>
          <input
            class="input"
            data-testid="key-input"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={key}
            aria-invalid={problem !== null}
            aria-describedby="key-problem"
            onInput={(event) => {
              setKey(event.currentTarget.value);
              setProblem(null);
            }}
          />
        </label>
        <p id="key-problem" class="field-problem" role="alert">
          {problem}
        </p>
        <div class="actions">
          <button type="submit" class="button primary" data-testid="use-key" disabled={busy}>
            Use it
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
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
