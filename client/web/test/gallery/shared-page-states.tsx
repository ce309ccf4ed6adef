/** Every state of the pages that their readers provide. */
import type { PageContent } from '@parley/sdk/pages/api';
import type { ComponentChild } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { PagesUnsupported, CreatePage } from '../../src/shared-pages/create-page.tsx';
import { ClosedPage } from '../../src/shared-pages/page-placeholder.tsx';
import { ReadPage } from '../../src/shared-pages/read-page.tsx';
import { ContentFrame } from '../../src/shared-pages/content/content-frame.tsx';
import { ContentView } from '../../src/shared-pages/content/content-view.tsx';
import { ADDRESS, fakePages, type FakePages } from './fake-pages.ts';

const nothing = () => {};
const text = (content: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(content);

const make = (pages: FakePages = {}, problem = false): ComponentChild => (
  <CreatePage pages={fakePages({ view: {}, pages: [], ...pages })} problem={problem} onCreated={nothing} />
);
const read = (pages: FakePages): ComponentChild => <ReadPage pages={fakePages(pages)} page={ADDRESS} />;
const alone = { holders: 1, readers: 0, last: true, peers: [], received: 0, sent: 0 } as const;
const away = { head: null, encryption: null, chunks: null, peers: [], path: 'connecting' } as const;

/** As soon as the element exists. */
function write(kind: string, content: string): void {
  const input = document.querySelector<HTMLInputElement>(`[name=kind][value=${kind}]`);
  const area = document.querySelector<HTMLTextAreaElement>('[data-testid=page-write]');
  if (!input || !area) {
    requestAnimationFrame(() => write(kind, content));
    return;
  }
  input.click();
  area.value = content;
  area.dispatchEvent(new Event('input', { bubbles: true }));
}

function drawn(width: number, height: number): Uint8Array<ArrayBuffer> {
  return text(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><defs><linearGradient id="g" x2="0" y2="1"><stop stop-color="#1b6b56"/><stop offset="1" stop-color="#f0b860"/></linearGradient></defs><rect width="100%" height="100%" fill="url(#g)"/><circle cx="70%" cy="34%" r="12%" fill="#fffefb"/></svg>`,
  );
}

/** JSON that a test passes in the fragment of the address. */
function given(): PageContent {
  const fragment = decodeURIComponent(location.hash.slice(1)) || '{"type":"text/plain","body":"Nothing"}';
  const { type, body } = JSON.parse(fragment) as { readonly type: string; readonly body: string };
  return { type, name: null, bytes: text(body) };
}

/** Shows the content of the fragment, again after each change; with `raw` only in the frame, without prior cleaning. */
function Given({ raw }: { readonly raw: boolean }) {
  const [content, setContent] = useState(given);
  const [times, setTimes] = useState(0);
  useEffect(() => {
    const next = (): void => {
      setContent(given());
      setTimes((before) => before + 1);
    };
    addEventListener('hashchange', next);
    return () => removeEventListener('hashchange', next);
  }, []);
  return (
    <div key={times} data-given={times}>
      {raw ? (
        <ContentFrame srcdoc={new TextDecoder().decode(content.bytes)} label="Raw" />
      ) : (
        <ContentView content={content} />
      )}
    </div>
  );
}

/** Nested deeper than the limit. */
const BOMB = `<p>${'<b>'.repeat(200)}`;

export const SHARED_PAGE_STATES: Readonly<Record<string, () => ComponentChild>> = {
  'shared-page-create': () => make(),
  'shared-page-create-markdown': () => {
    write(
      'markdown',
      '# Field notes\n\nA page that *lives* while someone reads it.\n\n- two herons\n- one left\n\n[a link](https://elsewhere.example/)',
    );
    return make();
  },
  'shared-page-create-html': () => {
    write('html', '<h1 style="color:#c96a4a">Hello</h1>\n<p onclick="alert(1)">No scripts here.</p>');
    return make();
  },
  'shared-page-create-holding': () => make({ pages: fakePages({ view: alone }).snapshot.pages }),
  'shared-page-create-connecting': () => make({ connection: 'connecting', limits: null }),
  'shared-page-create-refused': () =>
    make({ refusal: { code: 'TOO_MANY_SOCKETS', message: '' }, connection: 'waiting' }),
  'shared-page-no-address': () => make({}, true),
  'shared-page-own': () => read({ view: { own: true, ...alone } }),
  'shared-page-many': () => read({}),
  'shared-page-last': () => read({ view: alone }),
  'shared-page-relay': () =>
    read({
      view: {
        holders: 2,
        readers: 0,
        path: 'relay',
        peers: [{ visitor: 'v0000000000000001', path: 'relay', whole: true, received: 81_920, sent: 0 }],
      },
    }),
  'shared-page-encrypted': () => read({ view: { encryption: 'open', peers: [] } }),
  'shared-page-no-key': () =>
    read({ view: { encryption: 'no-key', head: { type: '', name: null, bytes: 81_920 } } }),
  'shared-page-finding': () =>
    read({ view: { ...away, state: 'finding', holders: null, readers: null, history: [] } }),
  'shared-page-fetching': () =>
    read({
      view: {
        state: 'fetching',
        chunks: { here: 37, of: 96 },
        head: { type: 'image/png', name: 'Estuary.png', bytes: 6_250_000 },
      },
    }),
  'shared-page-gone': () => read({ view: { ...away, state: 'gone', holders: 0, readers: 2 } }),
  'shared-page-refused': () =>
    read({ view: { ...away, state: 'refused', refusal: { code: 'PAGE_INVALID', message: '' } } }),
  'shared-page-offline': () => read({ connection: 'waiting', view: { holders: null, readers: null } }),
  'shared-page-closed': () => <ClosedPage onOpen={nothing} />,
  'shared-page-text': () =>
    read({
      content: { type: 'text/plain', name: 'log.txt', bytes: text('06:10 fog\n07:40 sun\n'.repeat(40)) },
    }),
  'shared-page-svg': () =>
    read({ content: { type: 'image/svg+xml', name: 'Estuary at low tide.svg', bytes: drawn(1600, 900) } }),
  'shared-page-file': () =>
    read({ content: { type: 'application/zip', name: '../../\u202eexe.sloot.zip', bytes: text('PK') } }),
  'shared-page-bomb': () => read({ content: { type: 'text/html', name: 'bomb.html', bytes: text(BOMB) } }),
  'shared-page-unsupported': () => <PagesUnsupported />,
  /** For tests: the content of the fragment, as users see it, and in the frame alone. */
  'shared-page-given': () => <Given raw={false} />,
  'shared-page-given-raw': () => <Given raw />,
};
