import type { Ban, ChangeRoomRequest, RoomView } from '@parley/protocol/http';
import { Icon } from '../../design/icon.tsx';
import type { OwnerDesk } from './desk.ts';

/** The settings of the room and its bans, below the list of participants. */
export function RoomSection({ desk, view }: { readonly desk: OwnerDesk; readonly view: RoomView }) {
  return (
    <section class="room-section" aria-labelledby="room-title" data-testid="room-section">
      <h3 id="room-title">Room</h3>
      <RoomSwitch
        desk={desk}
        what="locked"
        on={view.locked}
        title="Lock the room"
        text="New people cannot join. People in the call stay."
      />
      <RoomSwitch
        desk={desk}
        what="lobby"
        on={view.lobby ?? false}
        title="Lobby"
        text="Newcomers wait until you admit them."
      />
      {view.hardCap && <p class="soft small">At most {view.cap} people fit in.</p>}
      <Bans desk={desk} />
    </section>
  );
}

interface RoomSwitchProps {
  readonly desk: OwnerDesk;
  readonly what: keyof ChangeRoomRequest;
  readonly on: boolean;
  readonly title: string;
  readonly text: string;
}

function RoomSwitch({ desk, what, on, title, text }: RoomSwitchProps) {
  const wanted = desk.wanted.value[what];
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
          void desk.changeRoom(change);
        }}
      />
    </label>
  );
}

function Bans({ desk }: { readonly desk: OwnerDesk }) {
  const list = desk.bans.value;
  return (
    <details
      class="bans"
      open={list.status !== 'unread'}
      onToggle={(event) => {
        if (event.currentTarget.open && desk.bans.peek().status === 'unread') void desk.readBans();
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
          <button type="button" class="text-button" onClick={() => void desk.readBans()}>
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
            <BannedPerson key={ban.id} desk={desk} ban={ban} />
          ))}
        </ul>
      )}
    </details>
  );
}

function BannedPerson({ desk, ban }: { readonly desk: OwnerDesk; readonly ban: Ban }) {
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
        disabled={desk.busy.value.has(ban.id)}
        onClick={() => void desk.unban(ban.id)}
      >
        Lift
      </button>
    </li>
  );
}
