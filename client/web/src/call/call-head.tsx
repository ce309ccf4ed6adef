import type { RoomView } from '@parley/protocol/http';
import { Icon, type IconName } from '../design/icon.tsx';
import { Logo } from '../design/logo.tsx';
import type { CallSession } from './session.ts';
import { shareLink } from './share-link.tsx';

export function CallHead({ session }: { readonly session: CallSession }) {
  const { room, view } = session.snapshot.value;
  return (
    <header class="call-head">
      <Logo />
      <span class="call-name">{room}</span>
      {view && <RoomMarks view={view} />}
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

/** What everyone in the room should know of its door. */
function RoomMarks({ view }: { readonly view: RoomView }) {
  return (
    <span class="room-marks">
      {view.locked && <Mark id="locked" icon="lock" text="The room is locked: nobody new gets in" />}
      {view.lobby && <Mark id="lobby" icon="door" text="The room has a lobby: the owner lets newcomers in" />}
    </span>
  );
}

function Mark({ id, icon, text }: { readonly id: string; readonly icon: IconName; readonly text: string }) {
  return (
    <span role="img" aria-label={text} title={text} data-testid={`room-${id}`}>
      <Icon name={icon} />
    </span>
  );
}
