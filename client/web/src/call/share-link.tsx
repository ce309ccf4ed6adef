import { CopyButton, copyText } from '../design/copy-button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { MediaKeySection } from './path-dialog.tsx';
import type { CallSession } from './session.ts';

/** The share sheet of the system on phones, else the clipboard, and if both fail a dialog with the link. */
export async function shareLink(session: CallSession): Promise<void> {
  const url = session.link;
  if (matchMedia('(pointer: coarse)').matches && typeof navigator.share === 'function') {
    try {
      await navigator.share({ title: 'Join me on Parley', url });
      return;
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') return;
    }
  }
  if (await copyText(url)) session.notices.show('Link copied', 'info');
  else session.dialog.value = { kind: 'share' };
}

export function ShareDialog({
  session,
  onClose,
}: {
  readonly session: CallSession;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="Invite people" onClose={onClose} testid="share-dialog">
      <p>Everyone with this link can join the call.</p>
      <code class="secret">{session.link}</code>
      <div class="actions">
        <CopyButton text={session.link} label="Copy link" primary />
      </div>
      <MediaKeySection session={session} />
    </Dialog>
  );
}
