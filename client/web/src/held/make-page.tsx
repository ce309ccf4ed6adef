/** `/p`: creates a page, and lists those of this tab. */
import type { PageMade, Pages } from '@parley/sdk/pages/api';
import { Notice } from '../pages/notice.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
import { Composer } from './composer.tsx';
import { HeldList } from './held-list.tsx';
import { useSnapshot } from './tab-pages.ts';
import './make.css';

export interface MakePageProps {
  readonly pages: Pages;
  /** The address is not that of a page. */
  readonly problem: boolean;
  readonly onMade: (made: PageMade) => void;
}

export function MakePage({ pages, problem, onMade }: MakePageProps) {
  const heading = usePageTitle('Pages · Parley');
  const snapshot = useSnapshot(pages);
  return (
    <div class="make" data-testid="page-make" data-connection={snapshot.connection}>
      <SiteHead />
      <main class="make-main">
        <div class="make-hero">
          <h1 ref={heading} tabIndex={-1}>
            A page that exists while someone reads it
          </h1>
          <p class="hero-text">
            It is sent from browser to browser and not stored on a server. When the last tab that has it is
            closed, it is gone.
          </p>
          {problem && (
            <p class="callout" role="alert" data-testid="no-address">
              This link is incomplete. Ask for it again, or create a page of your own.
            </p>
          )}
        </div>
        <Composer pages={pages} snapshot={snapshot} onMade={onMade} />
        <HeldList views={snapshot.pages} onDrop={(page) => pages.drop(page)} />
      </main>
    </div>
  );
}

export function CannotHold() {
  return (
    <Notice icon="warning" mood="fault" title="This browser does not support pages" testid="cannot-hold">
      <p>Pages need WebRTC and https. Open this link in a recent Chrome, Edge or Firefox.</p>
    </Notice>
  );
}
