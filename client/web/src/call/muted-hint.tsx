import { Icon } from '../design/icon.tsx';
import type { CallSession } from './session.ts';

/** At the top, where it covers no name. */
export function MutedHint({ session }: { readonly session: CallSession }) {
  const { muted } = session.snapshot.value.me;
  return (
    <div class="muted-hint-slot" role="status">
      {muted ? (
        <p class="muted-hint" data-testid="muted-by-owner">
          <Icon name="mic-off" />
          An owner muted you until they let you speak.
        </p>
      ) : session.mutedSpeech.value ? (
        <p class="muted-hint" data-testid="muted-hint">
          <Icon name="mic-off" />
          You are muted. The others do not hear you.
        </p>
      ) : null}
    </div>
  );
}
