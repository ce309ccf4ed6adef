import type { ComponentChildren } from 'preact';
import { Icon } from '../design/icon.tsx';
import { go } from '../navigate.ts';
import { CameraPreview } from '../pages/camera-preview.tsx';
import { MediaTrouble } from '../pages/media-trouble.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
import type { CallSession } from './session.ts';

export interface WaitingPageProps {
  readonly session: CallSession;
  readonly testId: string;
  readonly icon: 'door' | 'people';
  readonly title: string;
  readonly status: string;
  readonly children: ComponentChildren;
}

/** The page of a newcomer who is not in the call yet, with the own camera. */
export function WaitingPage({ session, testId, icon, title, status, children }: WaitingPageProps) {
  const heading = usePageTitle(`${title} · Parley`);
  const { room, me } = session.snapshot.value;
  return (
    <div class="site" data-testid={testId} data-room={room}>
      <SiteHead />
      <main class="site-main prejoin-main">
        <div class="prejoin-media">
          <CameraPreview media={session.media} />
          <MediaTrouble media={session.media} />
        </div>
        <section class="prejoin-side lobby-side">
          <div class="lobby-icon">
            <Icon name={icon} />
          </div>
          <div class="prejoin-title">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            <p class="soft" role="status" data-testid={`${testId}-status`}>
              {status}
            </p>
          </div>
          {children}
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
