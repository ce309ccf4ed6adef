import { Icon } from '../design/icon.tsx';
import type { CallSession } from './session.ts';

/** In one line, also on a phone: above the names of the first tiles. */
export function MutedHint({ session }: { readonly session: CallSession }) {
  const { muted } = session.snapshot.value.me;
  return (
    <div role="status">
      {muted ? (
        <p class="muted-hint" data-testid="muted-by-owner">
          <Icon name="mic-off" />
          <span>
            An owner muted you<span class="wide-only"> until they let you speak</span>.
          </span>
        </p>
      ) : session.mutedSpeech.value ? (
        <p class="muted-hint" data-testid="muted-hint">
          <Icon name="mic-off" />
          <span>
            You are muted.<span class="wide-only"> The others do not hear you.</span>
          </span>
        </p>
      ) : null}
    </div>
  );
}
