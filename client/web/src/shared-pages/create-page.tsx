/** `/p`: creates a page, and lists those of this tab. */
import type { PageMade, Pages } from '@parley/sdk/pages/api';
import { Notice } from '../pages/notice.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
import { Composer } from './composer.tsx';
import { PageList } from './page-list.tsx';
import { useSnapshot } from './tab-pages.ts';
import './create-page.css';

export interface CreatePageProps {
  readonly pages: Pages;
  /** The address is not that of a page. */
  readonly problem: boolean;
  readonly onCreated: (made: PageMade) => void;
}

export function CreatePage({ pages, problem, onCreated }: CreatePageProps) {
  const heading = usePageTitle('Pages · Parley');
  const snapshot = useSnapshot(pages);
  return (
    <div class="site" data-testid="page-create" data-connection={snapshot.connection}>
      <SiteHead />
      <main class="site-main create-main">
        <div class="create-hero">
          <h1 ref={heading} tabIndex={-1}>
            A page that exists while someone reads it
          </h1>
          <p class="hero-text">
            It is sent from browser to browser and not stored on a server. When the last tab that has it is
            closed, it is gone.
          </p>
          {problem && (
            <p class="callout" role="alert" data-testid="invalid-address">
              This link is incomplete. Ask for it again, or create a page of your own.
            </p>
          )}
        </div>
        <Composer pages={pages} snapshot={snapshot} onCreated={onCreated} />
        <PageList views={snapshot.pages} onClosePage={(page) => pages.drop(page)} />
      </main>
    </div>
  );
}

export function PagesUnsupported() {
  return (
    <Notice
      icon="warning"
      mood="fault"
      title="This browser does not support pages"
      testid="pages-unsupported"
    >
      <p>Pages need WebRTC and https. Open this link in a recent Chrome, Edge or Firefox.</p>
    </Notice>
  );
}
