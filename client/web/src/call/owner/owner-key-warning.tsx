import { Icon } from '../../design/icon.tsx';
import type { CallSession } from '../session.ts';

/** The browser has an owner key that the room does not accept. */
export function OwnerKeyWarning({ session }: { readonly session: CallSession }) {
  if (!session.keyRefused.value) return null;
  return (
    <div class="callout key-warning" data-testid="key-refused">
      <Icon name="key" />
      <div>
        <p>
          <strong>The owner key in this browser is not valid</strong>
          The room does not accept it, so you join as a guest.
        </p>
        <button type="button" class="button" data-testid="forget-key" onClick={() => session.forgetKey()}>
          Delete the key
        </button>
      </div>
    </div>
  );
}
