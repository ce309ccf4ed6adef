/** Static pages: every state of `/p` without a service and without other visitors. */
import type { PageContent, Pages, PagesSnapshot, PageView } from '@parley/sdk/pages/api';

export const ADDRESS = '3f'.repeat(32);
const MIB = 1_048_576;

export const NOTES: PageContent = {
  type: 'text/markdown',
  name: 'Field notes.md',
  bytes: new TextEncoder().encode(`# Field notes

A page that *lives* while someone reads it. It has [a link](https://elsewhere.example/) and ![a picture](https://elsewhere.example/a.png).

## What was seen

- two herons, at six in the morning
- one of them **left** before the tide

> Nobody keeps this.

| when | what |
| --- | --- |
| 06:10 | fog |
| 07:40 | sun |

\`\`\`
tide --at 07:40
\`\`\`
`),
};

const VIEW: PageView = {
  page: ADDRESS,
  state: 'here',
  refusal: null,
  head: { type: NOTES.type, name: NOTES.name, bytes: NOTES.bytes.length },
  encryption: 'none',
  chunks: { here: 1, of: 1 },
  own: false,
  holders: 14,
  readers: 3,
  last: false,
  history: [1, 2, 4, 4, 7, 9, 8, 12, 15, 14].map((holders, index) => ({
    at: Date.now() - (10 - index) * 21_000,
    holders,
  })),
  peers: [
    { visitor: 'v0000000000000001', path: 'direct', whole: true, received: 4_404_019, sent: 0 },
    { visitor: 'v0000000000000002', path: 'turn', whole: false, received: 0, sent: 1_250_000 },
    { visitor: 'v0000000000000003', path: 'connecting', whole: false, received: 0, sent: 0 },
  ],
  path: 'turn',
  received: 4_404_019,
  sent: 1_250_000,
  dropped: 0,
};

export interface FakePages extends Partial<PagesSnapshot> {
  readonly view?: Partial<PageView>;
  readonly content?: PageContent | null;
}

export function fakePages({ view, content = NOTES, ...snapshot }: FakePages): Pages {
  const shown = { ...VIEW, ...(content && { head: headOf(content) }), ...view };
  return {
    snapshot: {
      connection: 'open',
      refusal: null,
      visitors: 212,
      limits: {
        pageBytes: 16 * MIB,
        chunkBytes: 65_536,
        perVisitor: 16,
        maxHolders: 6,
        maxReaders: 8,
        memoryBytes: 64 * MIB,
        messageBytes: 65_536,
      },
      pages: [shown],
      ...snapshot,
    },
    subscribe: () => () => {},
    make: () => Promise.resolve({ code: 'PAGES_TOO_LARGE', message: '' }),
    read() {},
    content: () => (shown.state === 'here' && shown.encryption !== 'no-key' ? content : null),
    drop() {},
    close() {},
  };
}

const headOf = ({ type, name, bytes }: PageContent): PageView['head'] => ({
  type,
  name,
  bytes: bytes.length,
});
