import type { Person } from '@parley/sdk/call';
import { Icon } from '../design/icon.tsx';
import type { CallSession } from './session.ts';

interface TileActionsProps {
  readonly session: CallSession;
  readonly person: Person;
  /** There is video that can be shown in a floating window. */
  readonly picture: boolean;
}

/** Shown on hover and on focus; always on touch screens. */
export function TileActions({ session, person, picture }: TileActionsProps) {
  const pinned = session.stage.pinned.value === person.participant;
  const pin = pinned ? `Unpin ${person.name}` : `Pin ${person.name}`;
  const float = `${person.name} in a window of their own`;
  return (
    <div class="tile-actions">
      {picture && document.pictureInPictureEnabled && (
        <button
          type="button"
          class="tile-action float"
          data-testid="float"
          aria-label={float}
          title={float}
          onClick={(event) => void floatPicture(event.currentTarget, session)}
        >
          <Icon name="float" />
        </button>
      )}
      <button
        type="button"
        class={`tile-action${pinned ? ' on' : ''}`}
        data-testid="pin"
        aria-label={pin}
        aria-pressed={pinned}
        title={pin}
        onClick={() => session.stage.togglePin(person.participant)}
      >
        <Icon name={pinned ? 'unpin' : 'pin'} />
      </button>
    </div>
  );
}

async function floatPicture(button: HTMLElement, session: CallSession): Promise<void> {
  const video = button.closest('.tile')?.querySelector('video');
  try {
    if (document.pictureInPictureElement === video) await document.exitPictureInPicture();
    else await video?.requestPictureInPicture();
  } catch {
    session.notices.show('This browser could not open a floating window for the video.', 'trouble');
  }
}
