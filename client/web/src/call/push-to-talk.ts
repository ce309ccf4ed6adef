/** Holding space unmutes. It is inactive where single-key shortcuts are, and where space has another meaning. */
import { useEffect } from 'preact/hooks';
import { shortcutsOn } from '../memory/profile.ts';
import { isTyping } from './shortcuts.ts';
import type { CallSession } from './session.ts';

const MOVES = new Set(['Tab', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End']);
const PRESSABLE = 'button, a, summary, [role=button], [tabindex="0"]';

export function usePushToTalk(session: CallSession): void {
  useEffect(() => watchSpace(session), [session]);
}

/** The returned function stops it. */
function watchSpace(session: CallSession): () => void {
  let talking = false;
  // Space presses a button that the keyboard moved to, with Tab or in a grid. A button that was clicked only keeps the focus.
  let byPointer = false;
  const stopped = new AbortController();
  const { signal } = stopped;

  function mayTalk({ target }: KeyboardEvent): boolean {
    if (!shortcutsOn() || session.dialog.value || isTyping(target)) return false;
    return byPointer || !(target instanceof Element && target.matches(PRESSABLE));
  }
  function release(): void {
    if (talking) session.talk(false);
    talking = false;
  }

  addEventListener('pointerdown', () => (byPointer = true), { signal, capture: true });
  addEventListener(
    'keydown',
    (event) => {
      if (MOVES.has(event.key)) byPointer = false;
      if (event.key !== ' ' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!talking && (event.repeat || event.defaultPrevented || !mayTalk(event))) return;
      talking ||= session.talk(true);
      if (talking) event.preventDefault();
    },
    { signal },
  );
  addEventListener(
    'keyup',
    (event) => {
      if (event.key !== ' ' || !talking) return;
      // Otherwise Firefox presses the button that has the focus.
      event.preventDefault();
      release();
    },
    { signal },
  );
  // The key is released elsewhere: no event says so.
  addEventListener('blur', release, { signal });
  return () => {
    stopped.abort();
    release();
  };
}
