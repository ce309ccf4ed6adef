/** Panels and dialogs are a part that the preview does not load: the call loads it when it begins, so that it is there before a click, and after an update too. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CallSession } from './session.ts';

type Part = FunctionComponent<{ readonly session: CallSession }>;

export function LazyOpened({ session }: { readonly session: CallSession }) {
  const [Loaded, setLoaded] = useState<Part | null>(null);
  const isOpen = session.dialog.value !== null || session.panel.value !== 'none';
  useEffect(() => {
    if (Loaded) return;
    import('./opened.tsx').then(
      ({ Opened }) => setLoaded(() => Opened),
      () => {
        if (session.dialog.peek() === null && session.panel.peek() === 'none') return;
        session.dialog.value = null;
        session.panel.value = 'none';
        session.notices.show('This part of the page did not load. Try again', 'trouble');
      },
    );
  }, [isOpen]);
  return Loaded && <Loaded session={session} />;
}
