import type { Person } from '@parley/sdk/call';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../design/icon.tsx';
import { focusPanel } from '../panel.tsx';
import type { CallSession } from '../session.ts';
import type { OwnerCommands } from './owner-commands.ts';

export interface PersonMenuProps {
  readonly session: CallSession;
  readonly commands: OwnerCommands;
  readonly person: Person;
  readonly open: boolean;
  readonly onToggle: () => void;
}

const menuId = (person: Person): string => `menu-${person.participant}`;

const menuLabel = ({ name }: Person): string => `Actions for ${name}`;

export function PersonMenuButton({ person, open, onToggle }: Omit<PersonMenuProps, 'session' | 'commands'>) {
  return (
    <button
      type="button"
      class={`button quiet icon-only person-more${open ? ' open' : ''}`}
      data-testid="person-menu"
      aria-label={menuLabel(person)}
      title="Mute, remove or ban"
      aria-expanded={open}
      aria-controls={menuId(person)}
      onClick={onToggle}
    >
      <Icon name="more" />
    </button>
  );
}

/** Opens below the person's row, within reach of a thumb, and covers nothing. */
export function PersonMenu(props: PersonMenuProps) {
  const { person, open, onToggle } = props;
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (open) element.current?.querySelector<HTMLElement>('button:not(:disabled)')?.focus();
  }, [open]);
  if (!open) return null;
  return (
    <div
      ref={element}
      id={menuId(person)}
      class="person-actions"
      role="group"
      aria-label={menuLabel(person)}
      data-testid="person-actions"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        document.querySelector<HTMLElement>(`[aria-controls="${menuId(person)}"]`)?.focus();
        onToggle();
      }}
    >
      <PersonActions {...props} />
    </div>
  );
}

function PersonActions({ session, commands, person, onToggle }: PersonMenuProps) {
  const { participant, name } = person;
  const busy = commands.pending.value.has(participant);
  const close = (): void => {
    onToggle();
    focusPanel();
  };
  return (
    <>
      <MuteActions commands={commands} person={person} onDone={close} />
      {!session.snapshot.value.me.coOwner && (
        <CoOwnerAction commands={commands} person={person} onDone={close} />
      )}
      <button
        type="button"
        class="button"
        data-testid="kick"
        disabled={busy}
        title="The person can come back when an owner lets them in"
        onClick={() => {
          commands.kick(participant);
          close();
        }}
      >
        <Icon name="out" />
        Remove
      </button>
      <button
        type="button"
        class="button bad"
        data-testid="ban"
        disabled={busy}
        onClick={() => {
          close();
          session.dialog.value = { kind: 'ban', participant, name };
        }}
      >
        <Icon name="ban" />
        Ban…
      </button>
    </>
  );
}

interface ActionProps {
  readonly commands: OwnerCommands;
  readonly person: Person;
  readonly onDone: () => void;
}

/** A request, which the person may decline, and a mute that holds. An owner cannot be muted. */
function MuteActions({ commands, person, onDone }: ActionProps) {
  const { participant, media, muted, owner } = person;
  const busy = commands.pending.value.has(participant);
  return (
    <>
      {!muted && (
        <button
          type="button"
          class="button"
          data-testid="request-mute"
          disabled={!media.audio}
          onClick={() => {
            void commands.requestMute(participant);
            onDone();
          }}
        >
          <Icon name="mic-off" />
          {media.audio ? 'Ask to mute' : 'Is muted'}
        </button>
      )}
      {!owner && (
        <button
          type="button"
          class="button"
          data-testid={muted ? 'unmute' : 'mute'}
          disabled={busy}
          title={
            muted
              ? 'Their microphone stays off until they switch it on'
              : 'Until you let them speak. If only they are muted, it ends when they join again'
          }
          onClick={() => {
            void commands.setMuted(participant, !muted);
            onDone();
          }}
        >
          <Icon name={muted ? 'mic' : 'mic-off'} />
          {muted ? 'Let them speak' : 'Mute'}
        </button>
      )}
    </>
  );
}

/** With the owner key, for people who have none. */
function CoOwnerAction({ commands, person, onDone }: ActionProps) {
  const { participant, owner, coOwner } = person;
  if (owner && !coOwner) return null;
  return (
    <button
      type="button"
      class="button"
      data-testid={coOwner ? 'remove-co-owner' : 'make-co-owner'}
      disabled={commands.pending.value.has(participant)}
      title={coOwner ? 'They take part as a guest' : 'They can mute, remove and admit people in this call'}
      onClick={() => {
        void commands.setCoOwner(participant, !coOwner);
        onDone();
      }}
    >
      <Icon name="key" />
      {coOwner ? 'Remove as co-owner' : 'Make co-owner'}
    </button>
  );
}
