/** Shown in place of a page that cannot be displayed, or not yet. */
import type { PagesSnapshot, PageView } from '@parley/sdk/pages/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { mediaKeyIn } from '../call/media-key.ts';
import { Icon, type IconName } from '../design/icon.tsx';
import { go } from '../navigate.ts';
import { Notice } from '../pages/notice.tsx';
import { refusedFor } from './refusals.ts';
import { formatBinarySize, sourcesText, countsText } from './page-text.ts';

export interface PagePlaceholderProps {
  readonly view: PageView | undefined;
  readonly connection: PagesSnapshot['connection'];
  readonly onKey: (key: string) => void;
}

export function PagePlaceholder({ view, connection, onKey }: PagePlaceholderProps) {
  if (view === undefined) return <Finding view={null} connection={connection} />;
  switch (view.state) {
    case 'finding':
      return <Finding view={view} connection={connection} />;
    case 'fetching':
      return <Fetching view={view} />;
    case 'gone':
      return (
        <Card icon="cloud" mood="closed" title="This page is gone" testid="gone">
          <p>No one has it open.</p>
          <p>If someone who has it comes back, it appears here automatically.</p>
        </Card>
      );
    case 'refused':
      return <Refused view={view} />;
    case 'here':
      return <EncryptedPage view={view} onKey={onKey} />;
    default:
      return view.state satisfies never;
  }
}

/** Shown after the user closed the page. */
export function ClosedPage({ onOpen }: { readonly onOpen: () => void }) {
  return (
    <Notice icon="door" mood="goodbye" title="You closed this page" testid="closed">
      <p>This tab no longer has the page. It exists while someone else has it open.</p>
      <div class="actions">
        <button type="button" class="button primary" data-testid="open-again" onClick={onOpen}>
          Open it again
        </button>
        <button type="button" class="button" onClick={() => go('/p')}>
          Create a page
        </button>
      </div>
    </Notice>
  );
}

function Finding({
  view,
  connection,
}: {
  readonly view: PageView | null;
  readonly connection: PagesSnapshot['connection'];
}) {
  const noHolder = view === null || (view.holders ?? 0) === 0;
  return (
    <Card icon="people" mood="wait" title="Looking for the page" testid="finding">
      <p role="status">
        {connection === 'connecting'
          ? 'Connecting to Parley…'
          : noHolder
            ? 'No one who has the page was found yet.'
            : `${countsText(view)}. Connecting with them…`}
      </p>
    </Card>
  );
}

function Fetching({ view }: { readonly view: PageView }) {
  const { here, of } = view.chunks ?? { here: 0, of: 0 };
  return (
    <Card icon="people" mood="wait" title="Loading the page" testid="fetching">
      <progress
        class="shared-page-progress"
        aria-label="Parts of the page"
        max={Math.max(1, of)}
        value={here}
      />
      <p data-testid="progress">
        {here} of {of} parts{view.head === null ? '' : ` of ${formatBinarySize(view.head.bytes)}`}
      </p>
      <p data-testid="sources" role="status">
        {sourcesText(view.peers, { readable: view.encryption === 'none' }) ??
          'Connecting with the people who have it…'}
      </p>
    </Card>
  );
}

function Refused({ view }: { readonly view: PageView }) {
  const { title, body } = refusedFor(view.refusal ?? { code: '', message: '' });
  return (
    <Card icon="ban" mood="fault" title={title} testid="refused">
      <p>{body}</p>
    </Card>
  );
}

function EncryptedPage({ view, onKey }: { readonly view: PageView; readonly onKey: (key: string) => void }) {
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  return (
    <Card
      icon="lock"
      mood="wait"
      title="This page is encrypted"
      testid={`encrypted-${view.encryption ?? 'unknown'}`}
    >
      <p>
        {view.encryption === 'wrong-key'
          ? 'The key in the link is wrong.'
          : 'The link has no key. A part of it is missing.'}{' '}
        This tab still passes the page on to others, but cannot read it.
      </p>
      <form
        class="shared-page-key"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const given = mediaKeyIn(text) ?? mediaKeyIn(`#key=${text.trim()}`);
          setWrong(given === null);
          if (given === null) return;
          history.replaceState(null, '', `#key=${given}`);
          onKey(given);
        }}
      >
        <label class="visually-hidden" for="page-key">
          The complete link, or its key
        </label>
        <input
          id="page-key"
          class="input"
          data-testid="page-key"
          placeholder="The complete link, or its key"
          autocomplete="off"
          spellcheck={false}
          value={text}
          aria-invalid={wrong}
          aria-describedby="page-key-problem"
          onInput={(event) => {
            setText(event.currentTarget.value);
            setWrong(false);
          }}
        />
        <button type="submit" class="button primary" data-testid="use-key" disabled={text.trim() === ''}>
          Read the page
        </button>
        <p id="page-key-problem" class="field-problem" role="alert">
          {wrong && 'This text has no key. The key follows #key= in the link.'}
        </p>
      </form>
    </Card>
  );
}

interface CardProps {
  readonly icon: IconName;
  readonly mood: 'wait' | 'closed' | 'fault';
  readonly title: string;
  readonly testid: string;
  readonly children: ComponentChildren;
}

function Card({ icon, mood, title, testid, children }: CardProps) {
  return (
    <div class="shared-page-placeholder">
      <div class={`notice-card ${mood}`} data-testid={testid}>
        <div class="notice-icon">
          <Icon name={icon} />
        </div>
        <h2>{title}</h2>
        {children}
      </div>
    </div>
  );
}
