import type { Ban, ChangeRoomRequest, RoomView } from '@parley/protocol/http';
import { Icon } from '../../design/icon.tsx';
import type { OwnerCommands } from './owner-commands.ts';

/** The settings of the room and its bans, below the list of participants. */
export function RoomSection({
  commands,
  view,
  allMuted,
  onEndCall,
}: {
  readonly commands: OwnerCommands;
  readonly view: RoomView;
  readonly allMuted: boolean;
  readonly onEndCall: () => void;
}) {
  return (
    <section class="room-section" aria-labelledby="room-title" data-testid="room-section">
      <h3 id="room-title">Room</h3>
      <RoomSwitch
        commands={commands}
        what="locked"
        on={view.locked}
        title="Lock the room"
        text="New people cannot join. People in the call stay."
      />
      <RoomSwitch
        commands={commands}
        what="lobby"
        on={view.lobby ?? false}
        title="Lobby"
        text="Newcomers wait until you admit them."
      />
      <RoomSwitch
        commands={commands}
        what="muted"
        on={allMuted}
        title="Mute everyone"
        text="Only owners are heard, and those you let speak."
      />
      {view.hardCap && <p class="soft small">At most {view.cap} people fit in.</p>}
      <Bans commands={commands} />
      <button type="button" class="button bad end-call" data-testid="end-call" onClick={onEndCall}>
        <Icon name="leave" />
        End the call for everyone…
      </button>
    </section>
  );
}

interface RoomSwitchProps {
  readonly commands: OwnerCommands;
  readonly what: keyof ChangeRoomRequest;
  readonly on: boolean;
  readonly title: string;
  readonly text: string;
}

function RoomSwitch({ commands, what, on, title, text }: RoomSwitchProps) {
  const wanted = commands.pendingChange.value[what];
  return (
    <label class="switch" aria-busy={wanted !== undefined}>
      <span>
        <strong>{title}</strong>
        <span class="soft small" id={`switch-${what}-text`}>
          {text}
        </span>
      </span>
      <input
        type="checkbox"
        role="switch"
        data-testid={`switch-${what}`}
        aria-label={title}
        aria-describedby={`switch-${what}-text`}
        checked={wanted ?? on}
        onChange={(event) => {
          const change = { [what]: event.currentTarget.checked };
          void commands.changeRoom(change);
        }}
      />
    </label>
  );
}

function Bans({ commands }: { readonly commands: OwnerCommands }) {
  const list = commands.bans.value;
  return (
    <details
      class="bans"
      open={list.status !== 'unread'}
      onToggle={(event) => {
        if (event.currentTarget.open && commands.bans.peek().status === 'unread') void commands.readBans();
      }}
    >
      <summary data-testid="bans">
        <Icon name="ban" />
        Banned
        {list.status === 'known' && <span class="soft">({list.bans.length})</span>}
        <span class="bans-chevron">
          <Icon name="chevron" />
        </span>
      </summary>
      {list.status === 'failed' ? (
        <p class="field-problem" role="alert">
          {list.problem}{' '}
          <button type="button" class="text-button" onClick={() => void commands.readBans()}>
            Try again
          </button>
        </p>
      ) : list.status !== 'known' ? (
        <p class="soft small">One moment…</p>
      ) : list.bans.length === 0 ? (
        <p class="soft small" data-testid="no-bans">
          No one is banned from this room.
        </p>
      ) : (
        <ul data-testid="ban-list">
          {list.bans.map((ban) => (
            <BannedPerson key={ban.id} commands={commands} ban={ban} />
          ))}
        </ul>
      )}
    </details>
  );
}

function BannedPerson({ commands, ban }: { readonly commands: OwnerCommands; readonly ban: Ban }) {
  const since = new Date(ban.at).toLocaleDateString([], { day: 'numeric', month: 'short' });
  return (
    <li class="person" data-testid="banned">
      <span class="person-name">
        {ban.name}
        <span class="soft small">
          {ban.network ? 'Their whole network' : 'Their device'}, since {since}
        </span>
      </span>
      <button
        type="button"
        class="button"
        data-testid="unban"
        aria-label={`Lift the ban of ${ban.name}`}
        disabled={commands.pending.value.has(ban.id)}
        onClick={() => void commands.unban(ban.id)}
      >
        Lift
      </button>
    </li>
  );
}
