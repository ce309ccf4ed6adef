import { useState } from 'preact/hooks';
import { keyFragment, mediaKeyIn } from '../call/media-key.ts';
import { go } from '../navigate.ts';
import { readRegions, readRoom } from '../rooms-api.ts';
import { roomFromText, roomPath } from '../route.ts';
import { sentence } from '../text/endings.ts';
import { roomName } from '../text/room-name.ts';

type Found = { readonly room: string } | { readonly problem: string };

/** Opens the room of a link, a code or a name. */
export function JoinForm() {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const join = async (): Promise<void> => {
    setBusy(true);
    const found = await findRoom(text);
    setBusy(false);
    if ('room' in found) go(roomPath(found.room), keyFragment(mediaKeyIn(text)));
    else setProblem(found.problem);
  };
  return (
    <form
      class="join-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void join();
      }}
    >
      <label class="visually-hidden" for="join-link">
        Link, code or name of a room
      </label>
      <input
        id="join-link"
        class="input"
        data-testid="join-link"
        placeholder="Paste a link or a code"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={text}
        aria-invalid={problem !== ''}
        aria-describedby="join-problem"
        onInput={(event) => {
          setText(event.currentTarget.value);
          setProblem('');
        }}
      />
      <button
        type="submit"
        class="button"
        data-testid="join-by-link"
        disabled={busy || text.trim() === ''}
        aria-busy={busy}
      >
        Join
      </button>
      <p id="join-problem" class="field-problem" role="alert">
        {problem}
      </p>
    </form>
  );
}

/** A name without a region is looked for in the region of this page. */
async function findRoom(text: string): Promise<Found> {
  const reference = roomFromText(text);
  if (reference) return { room: reference.room };
  const name = /[@/:]/.test(text) ? '' : roomName(text.trim()).replace(/-$/, '');
  if (name === '') return { problem: 'This is not a complete link. A code looks like abcd-efgh-jkmn-pqrs.' };
  const regions = await readRegions();
  if (!regions.ok) return { problem: sentence(regions.reason) };
  const room = `${name}@${regions.value.region}`;
  const found = await readRoom(room);
  if (found.ok) return { room };
  if (found.reason !== 'ROOM_NOT_FOUND') return { problem: sentence(found.reason) };
  return { problem: `There is no room named ${name}. A code looks like abcd-efgh-jkmn-pqrs.` };
}
