import type { RoomView } from '@parley/protocol/http';
import { pathText } from '../text/paths.ts';
import { Icon, type IconName } from '../design/icon.tsx';
import { Logo } from '../design/logo.tsx';
import type { CallSession } from './session.ts';
import { shareLink } from './share-link.tsx';
import { ViewControls } from './view-controls.tsx';

export function CallHead({ session }: { readonly session: CallSession }) {
  const { room, view } = session.snapshot.value;
  return (
    <header class="call-head">
      <Logo />
      <span class="call-name">{room}</span>
      {view && <RoomMarks view={view} />}
      <PathStatus session={session} />
      <div class="call-head-actions">
        <ViewControls session={session} />
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
        <HeadButton
          session={session}
          kind="shortcuts"
          icon="keyboard"
          label="Keyboard shortcuts"
          shortcut="?"
        />
        <HeadButton session={session} kind="settings" icon="settings" label="Settings" />
      </div>
    </header>
  );
}

interface HeadButtonProps {
  readonly session: CallSession;
  readonly kind: 'shortcuts' | 'settings';
  readonly icon: IconName;
  readonly label: string;
  /** A button with a shortcut is hidden on narrow screens, whose devices have no keyboard. */
  readonly shortcut?: string;
}

function HeadButton({ session, kind, icon, label, shortcut }: HeadButtonProps) {
  return (
    <button
      type="button"
      class={`button quiet icon-only${shortcut === undefined ? '' : ' wide-only'}`}
      aria-label={label}
      title={shortcut === undefined ? label : `${label} (${shortcut})`}
      data-testid={`open-${kind}`}
      onClick={() => (session.dialog.value = { kind })}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Shows who can read the media. */
function PathStatus({ session }: { readonly session: CallSession }) {
  const { path, people } = session.snapshot.value;
  const { label, title, tone } = pathText(path, people);
  const isUsual = tone === 'usual';
  return (
    <span
      class="path-status"
      role="status"
      data-testid="path"
      data-path={path.kind}
      data-reason={path.reason ?? ''}
    >
      <button
        type="button"
        class="path-button"
        data-testid="open-path"
        title={title}
        onClick={() => (session.dialog.value = { kind: 'path' })}
      >
        <span class={isUsual ? 'path-usual' : `pill ${tone}`}>
          {tone !== 'warning' && <Icon name="lock" />}
          <span class={isUsual ? 'wide-only' : ''}>{label}</span>
        </span>
        <span class="visually-hidden">. {title}</span>
      </button>
    </span>
  );
}

/** Shows to all participants whether the room is locked or has a lobby. */
function RoomMarks({ view }: { readonly view: RoomView }) {
  return (
    <span class="room-marks">
      {view.locked && <Mark id="locked" icon="ban" text="The room is locked: new people cannot join" />}
      {view.lobby && <Mark id="lobby" icon="door" text="The room has a lobby: the owner admits new people" />}
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
