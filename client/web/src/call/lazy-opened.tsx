/** Panels and dialogs are a part that the preview does not load: the call loads it when it begins, so that it is there before a click, and after an update too. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../design/dialog.tsx';
import type { CallSession } from './session.ts';

type Part = FunctionComponent<{ readonly session: CallSession }>;

export function LazyOpened({ session }: { readonly session: CallSession }) {
  const [Loaded, setLoaded] = useState<Part | null>(null);
  const [failed, setFailed] = useState(false);
  const isOpen = session.dialog.value !== null || session.panel.value !== 'none';
  useEffect(() => {
    if (Loaded) return;
    setFailed(false);
    import('./opened.tsx').then(
      ({ Opened }) => setLoaded(() => Opened),
      () => setFailed(true),
    );
  }, [isOpen]);
  if (Loaded) return <Loaded session={session} />;
  if (!isOpen) return null;

  function close(): void {
    session.dialog.value = null;
    session.panel.value = 'none';
  }
  return (
    <Dialog title={failed ? 'Not loaded' : 'One moment…'} onClose={close} testid="opening">
      {failed ? (
        <>
          {/* Some browsers do not ask for a failed part again. */}
          <p>A part of this page did not load. Check your connection, then reload: you stay in the call.</p>
          <button type="button" class="button primary" onClick={() => location.reload()}>
            Reload
          </button>
        </>
      ) : (
        <p class="soft">This is loading.</p>
      )}
    </Dialog>
  );
}
