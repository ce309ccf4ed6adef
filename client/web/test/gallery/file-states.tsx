/** Files in the chat. */
import type { PageView } from '@parley/sdk/pages/api';
import type { ComponentChild } from 'preact';
import { CallFiles } from '../../src/call/files/call-files.ts';
import { fileLine } from '../../src/call/files/file-line.ts';
import { call, inCall } from './call-state.tsx';
import { fakePages } from './fake-pages.ts';
import { CHAT } from './people.ts';

const [LINE] = CHAT;
const KEY = 'AAAAAAAAAAAAAAAAAAAAAA';
const addressOf = (nth: number): string => nth.toString(16).repeat(64);

const FILES: readonly (readonly [string, string, Partial<PageView> | null])[] = [
  ['Spring fair, plan of the stands.pdf', '1.2 MiB', null],
  ['tents.jpg', '640 KiB', { state: 'fetching', chunks: { here: 4, of: 10 }, own: false }],
  ['Budget 2027 – with all the changes that Tobias asked for.xlsx', '88 KiB', { state: 'here', own: false }],
  ['poster.png', '2.4 MiB', { state: 'here', own: true, holders: 3 }],
  ['minutes.md', '4 KiB', { state: 'gone', own: false }],
];

/** Of a size in words, as `1.2 MiB`. */
const bytes = (size: string): number =>
  Math.round(Number.parseFloat(size) * (size.endsWith('MiB') ? 1_048_576 : 1024));

function withFiles(problem: string | null = null): ComponentChild {
  const [view] = fakePages({}).snapshot.pages;
  const pages = FILES.flatMap(([name, size, change], nth) =>
    view && change
      ? [{ ...view, page: addressOf(nth), head: { type: 'x/y', name, bytes: bytes(size) }, ...change }]
      : [],
  );
  const chat = FILES.flatMap(([name, size], nth) =>
    LINE
      ? [
          {
            ...LINE,
            id: `file-${nth}`,
            text: fileLine(name, size, `${location.origin}/p/${addressOf(nth)}#key=${KEY}`),
            ...(nth === 3 ? { from: 'me', name: 'Me', mine: true } : {}),
          },
        ]
      : [],
  );
  return call({
    change: { ...inCall(4), chat },
    script: (session) => {
      session.files.value = new CallFiles(fakePages({ pages }));
      session.files.value.problem.value = problem;
      session.openPanel('chat');
    },
  });
}

export const FILE_STATES: Readonly<Record<string, () => ComponentChild>> = {
  'call-files': () => withFiles(),
  'call-file-problem': () =>
    withFiles(
      'The file has 21.4 MiB, and the limit is 16 MiB: everyone who downloads it keeps it in memory.',
    ),
};
