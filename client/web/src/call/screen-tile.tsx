import type { Person } from '@parley/sdk/call';
import { Icon } from '../design/icon.tsx';
import { Video } from '../design/video.tsx';
import type { CallSession } from './session.ts';
import { FloatButton, FullscreenButton } from './tile-actions.tsx';

interface ScreenProps {
  readonly session: CallSession;
  readonly person: Person;
}

export function SharedScreen({ session, person }: ScreenProps) {
  const what = `${person.name}’s screen`;
  return (
    <section
      class="tile screen-tile"
      data-testid="screen"
      data-participant={person.participant}
      aria-label={what}
    >
      <Video stream={person.screen} fit="contain" label={what} />
      <p class="tile-name">
        <Icon name="screen" />
        {person.name}
      </p>
      <div class="tile-actions">
        <FloatButton session={session} label={`${what} in a window of its own`} />
        <FullscreenButton what={what} />
      </div>
    </section>
  );
}

/** Of several shared screens those that are not large: a click makes one of them large. */
export function ScreenThumbnail({ session, person }: ScreenProps) {
  return (
    <button
      type="button"
      class="tile screen-thumbnail"
      data-testid="screen-thumbnail"
      data-participant={person.participant}
      aria-label={`Show ${person.name}’s screen`}
      onClick={() => (session.stage.sharer.value = person.participant)}
    >
      <Video stream={person.screen} fit="contain" label="" />
      <span class="tile-name">
        <Icon name="screen" />
        {person.name}
      </span>
    </button>
  );
}

/** Tells the sharer that the screen is shared. Its content is not shown: it would contain itself. */
export function SharingBar({ session }: { readonly session: CallSession }) {
  return (
    <div class="sharing-bar" data-testid="own-screen">
      <Icon name="screen" />
      <p>
        <strong>You are sharing your screen.</strong>
        <span class="soft wide-only"> Everyone in the call can see it.</span>
      </p>
      <button type="button" class="button" data-testid="stop-sharing" onClick={() => session.stopScreen()}>
        Stop sharing
      </button>
    </div>
  );
}
