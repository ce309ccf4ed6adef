import type { Person } from '@parley/sdk/call';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../design/icon.tsx';
import { focusPanel } from '../panel.tsx';
import type { CallSession } from '../session.ts';
import type { OwnerDesk } from './desk.ts';

export interface PersonMenuProps {
  readonly session: CallSession;
  readonly desk: OwnerDesk;
  readonly person: Person;
  readonly open: boolean;
  readonly onToggle: () => void;
}

export const menuId = (person: Person): string => `menu-${person.participant}`;

export function PersonMenuButton({ person, open, onToggle }: Omit<PersonMenuProps, 'session' | 'desk'>) {
  return (
    <button
      type="button"
      class={`button quiet icon-only person-more${open ? ' open' : ''}`}
      data-testid="person-menu"
      aria-label={`What you can do about ${person.name}`}
      title="Ask to mute, remove or ban"
      aria-expanded={open}
      aria-controls={menuId(person)}
      onClick={onToggle}
    >
      <Icon name="more" />
    </button>
  );
}

/** Opens below the person it is about, where a thumb reaches it, and nothing is covered. */
export function PersonMenu({ session, desk, person, open, onToggle }: PersonMenuProps) {
  const element = useRef<HTMLDivElement>(null);
  const { participant, name, media } = person;
  const busy = desk.busy.value.has(participant);
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
      aria-label={`What you can do about ${name}`}
      data-testid="person-actions"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        document.querySelector<HTMLElement>(`[aria-controls="${menuId(person)}"]`)?.focus();
        onToggle();
      }}
    >
      <button
        type="button"
        class="button"
        data-testid="request-mute"
        disabled={!media.audio}
        onClick={() => {
          void desk.requestMute(participant);
          onToggle();
          focusPanel();
        }}
      >
        <Icon name="mic-off" />
        {media.audio ? 'Ask to mute' : 'Is muted'}
      </button>
      <button
        type="button"
        class="button"
        data-testid="kick"
        disabled={busy}
        title="They may join again"
        onClick={() => {
          desk.kick(participant);
          onToggle();
          focusPanel();
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
          onToggle();
          focusPanel();
          session.dialog.value = { kind: 'ban', participant, name };
        }}
      >
        <Icon name="ban" />
        Ban…
      </button>
    </div>
  );
}
