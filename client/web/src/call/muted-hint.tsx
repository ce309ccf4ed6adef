import { Icon } from '../design/icon.tsx';
import type { CallSession } from './session.ts';

/** Above the controls, where the button is that ends it. */
export function MutedHint({ session }: { readonly session: CallSession }) {
  return (
    <div class="muted-hint-slot" role="status">
      {session.mutedSpeech.value && (
        <p class="muted-hint" data-testid="muted-hint">
          <Icon name="mic-off" />
          You are muted. The others do not hear you.
        </p>
      )}
    </div>
  );
}
