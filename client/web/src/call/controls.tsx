import { Icon, type IconName } from '../design/icon.tsx';
import { CallIcon } from './call-icon.tsx';
import { DeviceMenu } from './device-menu.tsx';
import { placeOf } from './hands.tsx';
import { ReactionControl } from './reactions.tsx';
import type { CallSession } from './session.ts';

export function Controls({ session }: SessionProps) {
  return (
    <div class="controls" role="group" aria-label="Call controls">
      <MediaControls session={session} />
      <span class="controls-gap" />
      <HandControl session={session} />
      <ReactionControl session={session} />
      <span class="controls-gap" />
      <PanelControls session={session} />
      <span class="controls-gap" />
      <button
        type="button"
        class="control leave"
        data-testid="control-leave"
        aria-label="Leave the call"
        title="Leave the call"
        onClick={() => session.leave()}
      >
        <Icon name="leave" />
        <span class="leave-word">Leave</span>
      </button>
    </div>
  );
}

interface SessionProps {
  readonly session: CallSession;
}

function MediaControls({ session }: SessionProps) {
  const microphone = session.media.sendingMicrophone.value !== null;
  const camera = session.media.sendingCamera.value !== null;
  const sharing = session.screen.value !== null;
  const { muted } = session.snapshot.value.me;
  return (
    <>
      <DeviceMenu session={session} kind="microphone">
        <Control
          id="microphone"
          icon={microphone ? 'mic' : 'mic-off'}
          label={muted ? 'Muted by an owner' : microphone ? 'Mute' : 'Unmute'}
          shortcut="m"
          look={microphone ? 'plain' : 'off'}
          unavailable={muted}
          onPress={() => session.toggleMicrophone()}
        />
      </DeviceMenu>
      <DeviceMenu session={session} kind="camera">
        <Control
          id="camera"
          icon={camera ? 'camera' : 'camera-off'}
          label={camera ? 'Stop camera' : 'Start camera'}
          shortcut="v"
          look={camera ? 'plain' : 'off'}
          onPress={() => session.toggleCamera()}
        />
      </DeviceMenu>
      <Control
        id="screen"
        icon={sharing ? 'screen-stop' : 'screen'}
        label={sharing ? 'Stop sharing' : 'Share screen'}
        shortcut="s"
        look={sharing ? 'active' : 'plain'}
        unavailable={session.media.port.openScreen === null}
        onPress={() => void session.toggleScreen()}
      />
    </>
  );
}

function HandControl({ session }: SessionProps) {
  const place = placeOf(session, session.snapshot.value.me.participant);
  const label = place > 0 ? 'Lower hand' : 'Raise hand';
  return (
    <button
      type="button"
      class={`control ${place > 0 ? 'active' : 'plain'} control-hand`}
      data-testid="control-hand"
      aria-label={place > 0 ? `${label}, number ${place} in the queue` : label}
      aria-keyshortcuts="h"
      title={`${label} (h)`}
      onClick={() => session.toggleHand()}
    >
      <CallIcon name="hand" />
      {place > 0 && <span class="count">{place}</span>}
    </button>
  );
}

function PanelControls({ session }: SessionProps) {
  const panel = session.panel.value;
  const unread = session.unread.value;
  const people = session.snapshot.value.people.length + 1;
  const waiting = session.snapshot.value.lobby.length;
  return (
    <>
      <Control
        id="chat"
        icon="chat"
        label={unread > 0 ? `Chat, ${unread} unread` : 'Chat'}
        shortcut="c"
        look={panel === 'chat' ? 'active' : 'plain'}
        expanded={panel === 'chat'}
        badge={badge(unread)}
        onPress={() => session.openPanel('chat')}
      />
      <Control
        id="people"
        icon="people"
        label={`People, ${people} in the call${waiting > 0 ? `, ${waiting} in the lobby` : ''}`}
        shortcut="p"
        look={panel === 'people' ? 'active' : 'plain'}
        expanded={panel === 'people'}
        badge={badge(waiting)}
        count={people}
        onPress={() => session.openPanel('people')}
      />
    </>
  );
}

const badge = (count: number): string | null => (count === 0 ? null : count > 9 ? '9+' : String(count));

interface ControlProps {
  readonly id: string;
  readonly icon: IconName;
  readonly label: string;
  readonly shortcut: string;
  readonly look: 'plain' | 'off' | 'active';
  readonly unavailable?: boolean;
  readonly expanded?: boolean;
  readonly badge?: string | null;
  readonly count?: number;
  readonly onPress: () => void;
}

function Control(props: ControlProps) {
  return (
    <button
      type="button"
      class={`control ${props.look}${props.unavailable ? ' unavailable' : ''}`}
      data-testid={`control-${props.id}`}
      data-look={props.look}
      aria-label={props.label}
      aria-disabled={props.unavailable}
      aria-expanded={props.expanded}
      aria-keyshortcuts={props.shortcut}
      title={`${props.label} (${props.shortcut})`}
      onClick={props.onPress}
    >
      <Icon name={props.icon} />
      {/* Drawn by CSS, not text: the label already has the number. */}
      {props.badge && <span class="badge" data-count={props.badge} data-testid={`badge-${props.id}`} />}
      {props.count !== undefined && <span class="count">{props.count}</span>}
    </button>
  );
}
