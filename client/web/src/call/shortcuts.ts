/** Single-key shortcuts. They are inactive while the user types or a dialog is open, and can be switched off. */
import { useEffect } from 'preact/hooks';
import { shortcutsOn } from '../memory/profile.ts';
import type { CallSession } from './session.ts';
import { shareLink } from './share-link.tsx';

export const SHORTCUTS: readonly { readonly key: string; readonly action: string }[] = [
  { key: 'm', action: 'Mute or unmute' },
  { key: 'space', action: 'Hold to speak while muted' },
  { key: 'v', action: 'Camera on or off' },
  { key: 's', action: 'Share your screen or stop' },
  { key: 'h', action: 'Raise or lower your hand' },
  { key: 'e', action: 'Open or close the reactions' },
  { key: 'c', action: 'Open or close the chat' },
  { key: 'p', action: 'Open or close the list of people' },
  { key: 'g', action: 'Grid, or the speaker large' },
  { key: 'i', action: 'Statistics of the call' },
  { key: 'l', action: 'Copy the link' },
  { key: '?', action: 'Show these shortcuts' },
];

export function useShortcuts(session: CallSession): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && session.panel.value !== 'none' && !session.dialog.value) {
        session.panel.value = 'none';
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
      if (!shortcutsOn() || session.dialog.value || isTyping(event.target)) return;
      if (run(session, event.key.toLowerCase())) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [session]);
}

function run(session: CallSession, key: string): boolean {
  switch (key) {
    case 'm':
      session.toggleMicrophone();
      return true;
    case 'v':
      session.toggleCamera();
      return true;
    case 's':
      void session.toggleScreen();
      return true;
    case 'h':
      session.toggleHand();
      return true;
    case 'e':
      toggleReactions(session);
      return true;
    case 'c':
      session.openPanel('chat');
      return true;
    case 'p':
      session.openPanel('people');
      return true;
    case 'g':
      // Two participants have one view only.
      if (session.snapshot.value.people.length > 1) session.stage.toggleView();
      return true;
    case 'i':
      session.dialog.value = { kind: 'statistics' };
      return true;
    case 'l':
      void shareLink(session);
      return true;
    case '?':
      session.dialog.value = { kind: 'shortcuts' };
      return true;
    default:
      return false;
  }
}

function toggleReactions({ reacting }: CallSession): void {
  const control = document.querySelector<HTMLElement>('.reaction-control');
  if (reacting.value && control?.contains(document.activeElement))
    control.querySelector<HTMLElement>('.control')?.focus();
  reacting.value = !reacting.value;
}

/** Also while an emoji is chosen for a message. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest(TEXT) !== null;
}

const TEXT = 'input, textarea, select, [contenteditable], .emoji-menu';
