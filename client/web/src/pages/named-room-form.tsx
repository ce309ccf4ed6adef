import type { CreateRoomAnswer } from '@parley/protocol/http';
import { ROOM_LIMITS } from '@parley/protocol/room-limits';
import { useState } from 'preact/hooks';
import { sentence } from '../text/endings.ts';
import { roomName } from '../text/room-name.ts';
import { CopyButton } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Icon } from '../design/icon.tsx';
import { TextField } from '../design/text-field.tsx';
import { setOwnerKey } from '../memory/owner-key.ts';
import { go } from '../navigate.ts';
import { createRoom } from '../rooms-api.ts';
import { roomPath } from '../route.ts';

/** An installation may allow fewer; its own limit then applies. */
const MAX_PARTICIPANTS = ROOM_LIMITS['room.participants'].max;

interface NamedRoom {
  readonly name: string;
  readonly cap: string;
  readonly lobby: boolean;
  readonly busy: boolean;
  readonly problem: string | null;
  readonly created: CreateRoomAnswer | null;
  readonly setName: (name: string) => void;
  readonly setCap: (cap: string) => void;
  readonly setLobby: (lobby: boolean) => void;
  readonly create: () => Promise<void>;
  readonly dismiss: () => void;
}

function useNamedRoom(): NamedRoom {
  const [name, setName] = useState('');
  const [cap, setCap] = useState('');
  const [lobby, setLobby] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [created, setCreated] = useState<CreateRoomAnswer | null>(null);

  async function create(): Promise<void> {
    const wanted = name.replace(/-$/, '');
    if (wanted === '') {
      setProblem('Enter a name for the room.');
      return;
    }
    const number = cap.trim() === '' ? undefined : Number(cap);
    if (number !== undefined && !(Number.isInteger(number) && number >= 1 && number <= MAX_PARTICIPANTS)) {
      setProblem(`Enter a number of people from 1 to ${MAX_PARTICIPANTS}, or leave the field empty.`);
      return;
    }
    setBusy(true);
    const answer = await createRoom({
      name: wanted,
      ...(number === undefined ? {} : { cap: number }),
      ...(lobby ? { lobby } : {}),
    });
    setBusy(false);
    if (!answer.ok) {
      setProblem(sentence(answer.reason));
      return;
    }
    setOwnerKey(answer.value.room.room, answer.value.ownerKey);
    setCreated(answer.value);
  }

  const state = { name, cap, lobby, busy, problem, created };
  return {
    ...state,
    setLobby,
    create,
    setName: (text) => {
      const usable = roomName(text);
      setName(usable);
      setProblem(
        usable === '' && text.trim() !== ''
          ? 'Use letters from a to z or digits: the name is part of the link.'
          : null,
      );
    },
    setCap: (text) => {
      setCap(text);
      setProblem(null);
    },
    dismiss: () => setCreated(null),
  };
}

/** Creates a room that keeps its name and link until its owner deletes it. */
export function NamedRoomForm() {
  const room = useNamedRoom();
  return (
    <details class="named">
      <summary data-testid="named-room">
        <Icon name="key" />
        Create a room with a name
      </summary>
      <p class="soft small">
        Its link stays the same until you delete the room. Use it for recurring meetings.
      </p>
      <form
        class="named-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void room.create();
        }}
      >
        <TextField
          label="Name of the room"
          testid="room-name"
          placeholder="book-club"
          value={room.name}
          problemId="named-problem"
          invalid={room.problem !== null}
          onValue={room.setName}
        />
        <TextField
          label="Maximum number of people"
          testid="room-cap"
          placeholder="any"
          numeric
          value={room.cap}
          problemId="named-problem"
          invalid={false}
          onValue={room.setCap}
        />
        <label class="check">
          <input
            type="checkbox"
            data-testid="room-lobby-choice"
            checked={room.lobby}
            onChange={(event) => room.setLobby(event.currentTarget.checked)}
          />
          <span>
            Lobby <span class="soft">– people wait until I let them in</span>
          </span>
        </label>
        <button type="submit" class="button" data-testid="create-room" disabled={room.busy}>
          {room.busy ? 'Creating…' : 'Create the room'}
        </button>
        <p id="named-problem" class="field-problem" role="alert">
          {room.problem}
        </p>
      </form>
      {room.created && <OwnerKeyDialog made={room.created} onClose={room.dismiss} />}
    </details>
  );
}

const DAY_MS = 86_400_000;

function daysOf(ms: number): string {
  const days = Math.max(1, Math.floor(ms / DAY_MS));
  return days === 1 ? 'a day' : `${days} days`;
}

export function OwnerKeyDialog({
  made,
  onClose,
}: {
  readonly made: CreateRoomAnswer;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={`${made.room.room} is yours`} onClose={onClose} testid="owner-key-dialog">
      <p>
        This is the owner key. With it, a person can admit, remove and ban people, and can lock and delete the
        room. It is shown only once: store it in a safe place. This browser stores it too. The room is deleted
        automatically when it is not used for {daysOf(made.idleMs)}.
      </p>
      <code class="secret" data-testid="owner-key">
        {made.ownerKey}
      </code>
      <div class="actions">
        <button
          type="button"
          class="button primary"
          data-testid="open-room"
          onClick={() => go(roomPath(made.room.room))}
        >
          Open the room
        </button>
        <CopyButton text={made.ownerKey} label="Copy the key" />
      </div>
    </Dialog>
  );
}
