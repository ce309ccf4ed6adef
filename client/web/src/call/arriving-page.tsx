import { Icon } from '../design/icon.tsx';
import { go } from '../navigate.ts';
import { CameraPreview } from '../pages/camera-preview.tsx';
import { MediaTrouble } from '../pages/media-trouble.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
import type { CallSession } from './session.ts';
import { useSecondsUntil } from './use-seconds.ts';

/** The page of a newcomer whose turn comes in a while, as many people are arriving. Becomes the call. */
export function ArrivingPage({
  session,
  turnAtMs,
}: {
  readonly session: CallSession;
  readonly turnAtMs: number;
}) {
  const heading = usePageTitle('Many people are arriving · Parley');
  const seconds = useSecondsUntil(turnAtMs);
  const { room, me } = session.snapshot.value;
  return (
    <div class="site" data-testid="arriving" data-room={room}>
      <SiteHead />
      <main class="site-main prejoin-main">
        <div class="prejoin-media">
          <CameraPreview media={session.media} />
          <MediaTrouble media={session.media} />
        </div>
        <section class="prejoin-side lobby-side">
          <div class="lobby-icon">
            <Icon name="people" />
          </div>
          <div class="prejoin-title">
            <h1 ref={heading} tabIndex={-1}>
              Many people are arriving
            </h1>
            <p class="soft" role="status">
              Your place is kept. The call starts automatically when it is your turn.
            </p>
          </div>
          <p class="notice-count" role="timer" data-testid="arriving-count">
            {timeLeft(seconds)}
          </p>
          <dl class="lobby-facts">
            <div>
              <dt>Room</dt>
              <dd>{room}</dd>
            </div>
            <div>
              <dt>Your name</dt>
              <dd>{me.name}</dd>
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

/** The time is an estimate: it may be over a little before the turn. */
export function timeLeft(seconds: number): string {
  if (seconds <= 0) return 'Any moment now';
  return seconds < 60 ? `About ${seconds} s` : `About ${Math.ceil(seconds / 60)} min`;
}
