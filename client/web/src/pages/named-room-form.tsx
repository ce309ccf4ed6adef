import type { CreateRoomAnswer } from '@parley/protocol/http';
import { LIMITS } from '@parley/protocol/limits';
import { useState } from 'preact/hooks';
import { sentence } from '../copy/endings.ts';
import { CopyButton } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Icon } from '../design/icon.tsx';
import { setOwnerKey } from '../memory/owner-key.ts';
import { go } from '../navigate.ts';
import { createRoom } from '../rooms-api.ts';
import { roomPath } from '../route.ts';

/** An installation may allow fewer: the room then takes as many as that. */
const MOST_PEOPLE = LIMITS['room.participants'].max;

/** What a room's name may be: letters, digits and single dashes inside, 48 at most. */
export function roomName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 48);
}

/** A room that keeps its name and link until its owner deletes it. */
export function NamedRoomForm() {
  const [name, setName] = useState('');
  const [most, setMost] = useState('');
  const [lobby, setLobby] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [made, setMade] = useState<CreateRoomAnswer | null>(null);

  async function create(): Promise<void> {
    const wanted = name.replace(/-$/, '');
    if (wanted === '') {
      setProblem('Give the room a name first.');
      return;
    }
    const cap = most.trim() === '' ? undefined : Number(most);
    if (cap !== undefined && !(Number.isInteger(cap) && cap >= 1 && cap <= MOST_PEOPLE)) {
      setProblem(`Most people: a number from 1 to ${MOST_PEOPLE}, or nothing.`);
      return;
    }
    setBusy(true);
    const answer = await createRoom({
      name: wanted,
      ...(cap === undefined ? {} : { cap }),
      ...(lobby ? { lobby } : {}),
    });
    setBusy(false);
    if (!answer.ok) {
      setProblem(sentence(answer.reason));
      return;
    }
    setOwnerKey(answer.value.room.room, answer.value.ownerKey);
    setMade(answer.value);
  }

  return (
    <details class="named">
      <summary data-testid="named-room">
        <Icon name="key" />
        Make a room with a name
      </summary>
      <p class="soft small">It keeps its link until you delete it. Good for a team that meets every day.</p>
      <form
        class="named-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label class="field">
          <span class="label">Name of the room</span>
          <input
            class="input"
            data-testid="room-name"
            placeholder="book-club"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={name}
            aria-invalid={problem !== null}
            aria-describedby="named-problem"
            onInput={(event) => {
              setName(roomName(event.currentTarget.value));
              setProblem(null);
            }}
          />
        </label>
        <label class="field">
          <span class="label">Most people</span>
          <input
            class="input"
            data-testid="room-cap"
            inputMode="numeric"
            placeholder="any"
            autocomplete="off"
            value={most}
            onInput={(event) => {
              setMost(event.currentTarget.value);
              setProblem(null);
            }}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            data-testid="room-lobby-choice"
            checked={lobby}
            onChange={(event) => setLobby(event.currentTarget.checked)}
          />
          <span>
            Lobby <span class="soft">– people wait until I let them in</span>
          </span>
        </label>
        <button type="submit" class="button" data-testid="create-room" disabled={busy}>
          {busy ? 'Making it…' : 'Make the room'}
        </button>
        <p id="named-problem" class="field-problem" role="alert">
          {problem}
        </p>
      </form>
      {made && <OwnerKeyDialog made={made} onClose={() => setMade(null)} />}
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
        This is the owner key. A person who has it lets people in or keeps them out, locks the room and can
        delete it. It is shown once: keep it somewhere safe. This browser remembers it too. The room ends by
        itself when it was not used for {daysOf(made.idleMs)}.
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
