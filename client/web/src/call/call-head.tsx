import { Icon } from '../design/icon.tsx';
import { Logo } from '../design/logo.tsx';
import type { CallSession } from './session.ts';
import { shareLink } from './share-link.tsx';

export function CallHead({ session }: { readonly session: CallSession }) {
  const { room } = session.snapshot.value;
  return (
    <header class="call-head">
      <Logo />
      <span class="call-name">{room}</span>
      <div class="call-head-actions">
        <button
          type="button"
          class="button quiet"
          data-testid="copy-link"
          onClick={() => void shareLink(session)}
        >
          <Icon name="link" />
          <span class="wide-only">Copy link</span>
          <span class="visually-hidden narrow-only">Share the link</span>
        </button>
        <button
          type="button"
          class="button quiet icon-only wide-only"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          data-testid="open-shortcuts"
          onClick={() => (session.dialog.value = { kind: 'shortcuts' })}
        >
          <Icon name="keyboard" />
        </button>
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Settings"
          title="Settings"
          data-testid="open-settings"
          onClick={() => (session.dialog.value = { kind: 'settings' })}
        >
          <Icon name="settings" />
        </button>
      </div>
    </header>
  );
}
