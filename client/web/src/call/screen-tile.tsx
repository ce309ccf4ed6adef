import type { Person } from '@parley/sdk/call';
import { useRef } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { Video } from '../design/video.tsx';
import type { CallSession } from './session.ts';

export function SharedScreen({ person }: { readonly person: Person }) {
  const element = useRef<HTMLElement>(null);
  return (
    <section
      ref={element}
      class="tile screen-tile"
      data-testid="screen"
      data-participant={person.participant}
      aria-label={`${person.name}’s screen`}
    >
      <Video stream={person.screen} fit="contain" label={`${person.name}’s screen`} />
      <p class="tile-name">
        <Icon name="screen" />
        {person.name}
      </p>
      {document.fullscreenEnabled && (
        <button
          type="button"
          class="button screen-full"
          onClick={() => void toggleFullscreen(element.current)}
        >
          Full screen
        </button>
      )}
    </section>
  );
}

/** Of several shared screens those that are not large: a click makes one of them large. */
export function ScreenThumbnail({
  session,
  person,
}: {
  readonly session: CallSession;
  readonly person: Person;
}) {
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

/** The sharer sees that the screen is shared, not its content, which would contain itself. */
export function OwnScreen({ session }: { readonly session: CallSession }) {
  return (
    <section class="tile screen-tile own-screen" data-testid="own-screen">
      <div class="own-screen-text">
        <Icon name="screen" />
        <h2>You are sharing your screen</h2>
        <p class="soft">Everyone in the call can see it.</p>
        <button type="button" class="button" onClick={() => session.stopScreen()}>
          Stop sharing
        </button>
      </div>
    </section>
  );
}

async function toggleFullscreen(element: HTMLElement | null): Promise<void> {
  if (document.fullscreenElement) await document.exitFullscreen();
  else await element?.requestFullscreen();
}
