import { Icon } from '../design/icon.tsx';
import { go } from '../navigate.ts';
import { CameraPreview } from '../pages/camera-preview.tsx';
import { MediaTrouble } from '../pages/media-trouble.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
import { OwnerKeyWarning } from './owner/owner-key-warning.tsx';
import type { CallSession } from './session.ts';

/** The page of a newcomer who waits in the lobby, with the own camera. Becomes the call when an owner admits. */
export function LobbyPage({
  session,
  offline,
}: {
  readonly session: CallSession;
  readonly offline: boolean;
}) {
  const heading = usePageTitle('Waiting to be let in · Parley');
  const { room } = session.snapshot.value;
  return (
    <div class="site" data-testid="lobby" data-room={room}>
      <SiteHead />
      <main class="site-main prejoin-main">
        <div class="prejoin-media">
          <CameraPreview media={session.media} />
          <MediaTrouble media={session.media} />
        </div>
        <section class="prejoin-side lobby-side">
          <div class="lobby-icon">
            <Icon name="door" />
          </div>
          <div class="prejoin-title">
            <h1 ref={heading} tabIndex={-1}>
              Waiting to be let in
            </h1>
            <p class="soft" role="status" data-testid="lobby-status">
              {offline
                ? 'You are offline. Your request is sent again when your network returns.'
                : 'The owner of the room sees that you are waiting. The call starts automatically when they let you in.'}
            </p>
          </div>
          <OwnerKeyWarning session={session} />
          <dl class="lobby-facts">
            <div>
              <dt>Room</dt>
              <dd>{room}</dd>
            </div>
            <div>
              <dt>Your name</dt>
              <dd>{session.snapshot.value.me.name}</dd>
            </div>
          </dl>
          <p class="soft small">Until then, no one in the call sees or hears you.</p>
          <button type="button" class="button" data-testid="stop-waiting" onClick={() => go('/')}>
            Stop waiting
          </button>
        </section>
      </main>
    </div>
  );
}
