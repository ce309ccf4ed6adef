/** `/p/<address>`: a page, and the visitors that have it. */
import type { PageAddress } from '@parley/protocol/pages';
import type { PageContent, Pages, PagesSnapshot, PageView } from '@parley/sdk/pages/api';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { Icon } from '../design/icon.tsx';
import { Logo } from '../design/logo.tsx';
import { PageLink } from '../pages/page-link.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { ToggleButton, useStoredToggle } from '../streams/viewer.tsx';
import { titleOf } from './page-list.tsx';
import { HolderPanel } from './holder-panel.tsx';
import { KeepOpenNotice } from './keep-open-notice.tsx';
import { ClosedPage, PagePlaceholder } from './page-placeholder.tsx';
import { linkOf } from './page-route.ts';
import { saveFile } from './content/save-file.ts';
import { ContentView } from './content/content-view.tsx';
import { PageIcon } from './page-icon.tsx';
import { storeKey, linkKey, useSnapshot } from './tab-pages.ts';
import { countsText } from './page-text.ts';
import './read-page.css';

export interface ReadPageProps {
  readonly pages: Pages;
  readonly page: PageAddress;
}

export function ReadPage({ pages, page }: ReadPageProps) {
  const snapshot = useSnapshot(pages);
  const [closed, setClosed] = useState(false);
  const [key, setKey] = useLinkKey(page);
  const [panel, togglePanel] = useStoredToggle('parley.shared-page-panel');
  const view = snapshot.pages.find((each) => each.page === page);
  const content = useMemo(() => pages.content(page), [page, view?.state, view?.encryption]);
  const heading = usePageTitle(`${titleOf(view ?? { head: null, page })} · Parley`);
  useEffect(() => {
    if (!closed) pages.read(page, key);
  }, [pages, page, key, closed]);

  if (closed) return <ClosedPage onOpen={() => setClosed(false)} />;
  const link = linkOf(page, key);
  const close = (): void => {
    pages.drop(page);
    setClosed(true);
  };
  return (
    <div class={`viewer${panel ? ' with-panel' : ''}`} data-testid="shared-page" {...dataOf(view)}>
      <header class="viewer-head shared-page-head">
        <PageLink class="logo-link" href="/p" aria-label="All pages">
          <Logo />
        </PageLink>
        <h1 class="shared-page-title" ref={heading} tabIndex={-1}>
          {titleOf(view ?? { head: null, page })}
        </h1>
        {view !== undefined && <PageCounts view={view} />}
        <Actions link={link} content={content} panel={panel} onPanel={togglePanel} />
      </header>
      <main class="shared-page-main">
        {view !== undefined && <KeepOpenNotice view={view} link={link} encrypted={key !== null} />}
        <OfflineNotice snapshot={snapshot} />
        {view?.path === 'relay' && view.encryption === 'none' && <RelayCanRead />}
        <Content view={view} content={content} snapshot={snapshot} onKey={setKey} />
      </main>
      {panel && view !== undefined && (
        <HolderPanel view={view} visitors={snapshot.visitors} onClose={close} />
      )}
    </div>
  );
}

/** The key in the address bar, which follows its changes; the setter stores a key that a person entered. */
function useLinkKey(page: PageAddress): readonly [string | null, (key: string) => void] {
  const [key, setKey] = useState(() => linkKey(page));
  useEffect(() => {
    const changed = (): void => setKey(linkKey(page));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, [page]);
  const enter = (entered: string): void => {
    storeKey(page, entered);
    setKey(entered);
  };
  return [key, enter];
}

/** The state of the page as `data-*` attributes, for tests. */
const dataOf = (view: PageView | undefined) => ({
  'data-state': view?.state ?? 'finding',
  'data-holders': view?.holders ?? '',
  'data-readers': view?.readers ?? '',
  'data-last': view?.last ?? false,
  'data-path': view?.path ?? 'connecting',
  'data-received': view?.received ?? 0,
  'data-sent': view?.sent ?? 0,
  'data-dropped': view?.dropped ?? 0,
});

interface ActionsProps {
  readonly link: string;
  readonly content: PageContent | null;
  readonly panel: boolean;
  readonly onPanel: () => void;
}

function Actions({ link, content, panel, onPanel }: ActionsProps) {
  return (
    <div class="viewer-actions">
      <CopyButton text={link} label="Copy link" testid="copy-link" />
      {content !== null && (
        <button
          type="button"
          class="button icon-only"
          aria-label="Download"
          title="Download"
          data-testid="page-download"
          onClick={() => saveFile(content)}
        >
          <PageIcon name="save" />
        </button>
      )}
      <ToggleButton label="Readers" testid="toggle-panel" on={panel} onToggle={onPanel}>
        <PageIcon name="swarm" />
      </ToggleButton>
    </div>
  );
}

function Content({
  view,
  content,
  snapshot,
  onKey,
}: {
  readonly view: PageView | undefined;
  readonly content: PageContent | null;
  readonly snapshot: PagesSnapshot;
  readonly onKey: (key: string) => void;
}) {
  if (content === null) return <PagePlaceholder view={view} connection={snapshot.connection} onKey={onKey} />;
  return (
    <article class="shared-page-content" aria-label="The page">
      <ContentView content={content} />
    </article>
  );
}

function PageCounts({ view }: { readonly view: PageView }) {
  const encrypted = view.encryption !== null && view.encryption !== 'none';
  return (
    <div class="shared-page-counts">
      {encrypted && (
        <p class="shared-page-encrypted" title="Only people with the complete link can read it">
          <Icon name="lock" />
          Encrypted
        </p>
      )}
      <p class={`pill${view.last ? ' last' : ''}`} role="status" data-testid="page-counts">
        <span class="pill-dot" />
        {view.last ? 'Only you have it' : countsText(view)}
      </p>
    </div>
  );
}

function RelayCanRead() {
  return (
    <p class="callout" data-testid="relay-can-read">
      <Icon name="info" />
      Parts of this page go through Parley’s relay, which can read them.
    </p>
  );
}

/** Connections to other visitors continue without the service. */
function OfflineNotice({ snapshot }: { readonly snapshot: PagesSnapshot }) {
  if (snapshot.connection !== 'waiting') return null;
  return (
    <p class="callout" role="status" data-testid="offline">
      <Icon name="cloud" />
      Parley cannot be reached. This tab keeps its pages and tries to reconnect. Until then new readers cannot
      find them here.
    </p>
  );
}
