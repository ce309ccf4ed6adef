import { useState } from 'preact/hooks';
import { pathText } from '../text/paths.ts';
import { CopyButton } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { DialogButton } from './dialog-button.tsx';
import { SecurityCodeSection } from './security-code.tsx';
import type { CallSession } from './session.ts';

interface PathDialogProps {
  readonly session: CallSession;
  readonly onClose: () => void;
}

/** The path of audio and video, who can read them, and what the user can do about it. */
export function PathDialog({ session, onClose }: PathDialogProps) {
  const { path, people } = session.snapshot.value;
  return (
    <Dialog title="Path of this call" onClose={onClose} testid="path-dialog">
      <p>{pathText(path, people).title}</p>
      <SecurityCodeSection session={session} />
      <MediaKeySection session={session} />
      <DialogButton session={session} kind="statistics" label="Statistics of the call" />
    </Dialog>
  );
}

export function MediaKeySection({ session }: { readonly session: CallSession }) {
  if (session.mediaKey.value !== null) {
    return (
      <>
        <p class="soft small" data-testid="has-media-key">
          Browsers send the part after # to no server. In a large room they give each other the keys of their
          voice and video with it, new ones when someone leaves; media relays get none. People with another
          link connect with you directly if they are seven at most; if they are more, you and they do not see
          or hear each other.
        </p>
        <div class="actions">
          <CopyButton text={session.link} label="Copy the link with the key" />
        </div>
      </>
    );
  }
  return <MakeMediaKey session={session} />;
}

/** The other participants have the old link: with them in the call the user is asked first. */
function MakeMediaKey({ session }: { readonly session: CallSession }) {
  const [asks, setAsks] = useState(false);
  const others = session.snapshot.value.people.length;
  if (asks)
    return (
      <>
        <p class="small" role="status">
          Send the new link to {others === 1 ? 'the other participant' : `the ${others} others`}. In a large
          room, whoever has not opened it disappears for some seconds and then connects with you directly. If
          they are eight or more, you and they do not see or hear each other.
        </p>
        <div class="actions">
          <button
            type="button"
            class="button primary"
            data-testid="make-media-key-confirm"
            onClick={() => session.makeMediaKey()}
          >
            Create the link
          </button>
          <button type="button" class="button" onClick={() => setAsks(false)}>
            Cancel
          </button>
        </div>
      </>
    );
  return (
    <>
      <p class="soft small">
        In a large room voice and video go through media relays, which can read them. A key in the link keeps
        them out: everyone needs the new link then.
      </p>
      <div class="actions">
        <button
          type="button"
          class="button"
          data-testid="make-media-key"
          onClick={() => (others > 0 ? setAsks(true) : session.makeMediaKey())}
        >
          Create a link with a key
        </button>
      </div>
    </>
  );
}
