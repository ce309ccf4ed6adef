/** `/p/<address>`: a page, and the visitors that have it. */
import type { PageAddress } from '@parley/protocol/pages';
import type { PageContent, Pages, PagesSnapshot, PageView } from '@parley/sdk/pages/api';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { Icon } from '../design/icon.tsx';
import { Logo } from '../design/logo.tsx';
import { browserStore } from '../memory/storage.ts';
import { PageLink } from '../pages/page-link.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { titleOf } from './held-list.tsx';
import { HolderPanel } from './holder-panel.tsx';
import { KeepOpen } from './keep-open.tsx';
import { Closed, NotHere } from './not-here.tsx';
import { linkOf } from './place.ts';
import { saveFile } from './shown/save-file.ts';
import { Shown } from './shown/shown.tsx';
import { HeldSign } from './sign.tsx';
import { keepKey, keyOf, useSnapshot } from './tab-pages.ts';
import { standing } from './words.ts';
import './read.css';

const PANEL = 'parley.held-panel';

export interface ReadPageProps {
  readonly pages: Pages;
  readonly page: PageAddress;
}

export function ReadPage({ pages, page }: ReadPageProps) {
  const snapshot = useSnapshot(pages);
  const [closed, setClosed] = useState(false);
  const [key, setKey] = useLinkKey(page);
  const [panel, setPanel] = useState(() => browserStore.read(PANEL) !== 'off');
  const view = snapshot.pages.find((each) => each.page === page);
  const content = useMemo(() => pages.content(page), [page, view?.state, view?.encryption]);
  const heading = usePageTitle(`${titleOf(view ?? { head: null, page })} · Parley`);
  useEffect(() => {
    if (!closed) pages.read(page, key);
  }, [pages, page, key, closed]);

  if (closed) return <Closed onOpen={() => setClosed(false)} />;
  const link = linkOf(page, key);
  const close = (): void => {
    pages.drop(page);
    setClosed(true);
  };
  const togglePanel = (): void => {
    browserStore.write(PANEL, panel ? 'off' : null);
    setPanel(!panel);
  };
  return (
    <div class={`held${panel ? ' with-panel' : ''}`} data-testid="held-page" {...dataOf(view)}>
      <header class="held-head">
        <PageLink class="logo-link" href="/p" aria-label="All pages">
          <Logo />
        </PageLink>
        <h1 class="held-title" ref={heading} tabIndex={-1}>
          {titleOf(view ?? { head: null, page })}
        </h1>
        {view !== undefined && <Standing view={view} />}
        <Actions link={link} content={content} panel={panel} onPanel={togglePanel} />
      </header>
      <main class="held-main">
        {view !== undefined && <KeepOpen view={view} link={link} sealed={key !== null} />}
        <Trouble snapshot={snapshot} />
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
  const [key, setKey] = useState(() => keyOf(page));
  useEffect(() => {
    const changed = (): void => setKey(keyOf(page));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, [page]);
  const enter = (entered: string): void => {
    keepKey(page, entered);
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
  'data-way': view?.path ?? 'connecting',
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
    <div class="held-actions">
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
          <HeldSign name="save" />
        </button>
      )}
      <button
        type="button"
        class="button icon-only"
        aria-label="Readers"
        title="Readers"
        aria-pressed={panel}
        data-testid="toggle-panel"
        onClick={onPanel}
      >
        <HeldSign name="swarm" />
      </button>
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
  if (content === null) return <NotHere view={view} connection={snapshot.connection} onKey={onKey} />;
  return (
    <article class="held-content" aria-label="The page">
      <Shown content={content} />
    </article>
  );
}

function Standing({ view }: { readonly view: PageView }) {
  const sealed = view.encryption !== null && view.encryption !== 'none';
  return (
    <div class="held-standing">
      {sealed && (
        <p class="held-sealed" title="Only people with the complete link can read it">
          <Icon name="lock" />
          Encrypted
        </p>
      )}
      <p class={`pill${view.last ? ' last' : ''}`} role="status" data-testid="standing">
        <span class="pill-dot" />
        {view.last ? 'Only you have it' : standing(view)}
      </p>
    </div>
  );
}

function RelayCanRead() {
  return (
    <p class="callout" data-testid="overheard">
      <Icon name="info" />
      Parts of this page go through Parley’s relay, which can read them.
    </p>
  );
}

/** Connections to other visitors continue without the service. */
function Trouble({ snapshot }: { readonly snapshot: PagesSnapshot }) {
  if (snapshot.connection !== 'waiting') return null;
  return (
    <p class="callout held-trouble" role="status" data-testid="offline">
      <Icon name="cloud" />
      Parley cannot be reached. This tab keeps its pages and tries to reconnect. Until then new readers cannot
      find them here.
    </p>
  );
}
