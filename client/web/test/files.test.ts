import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { PageMade, PageRefusal, Pages, PagesSnapshot, PageView } from '@parley/sdk/pages/api';
import { CallFiles } from '../src/call/files/call-files.ts';
import { fileLine, readFileLine } from '../src/call/files/file-line.ts';
import { fakePages } from './gallery/fake-pages.ts';

const ORIGIN = 'https://parley.example';
const PAGE = '3f'.repeat(32);
const KEY = 'AAAAAAAAAAAAAAAAAAAAAA';
const LINK = `${ORIGIN}/p/${PAGE}#key=${KEY}`;
const MIB = 1_048_576;

test('the line of a file is read as it was written', () => {
  const line = fileLine('Minutes (draft).pdf', '1.2 MiB', LINK);
  assert.deepEqual(readFileLine(line, ORIGIN), {
    name: 'Minutes (draft).pdf',
    size: '1.2 MiB',
    page: PAGE,
    key: KEY,
  });
});

test('a name shows its true ending: characters that are invisible or turn it round are gone', () => {
  const name = readFileLine(fileLine('in\u202Efdp.exe', '2 B', LINK), ORIGIN)?.name;
  assert.equal(name, 'infdp.exe');
  assert.equal(readFileLine(fileLine('\u200B\u2066', '2 B', LINK), ORIGIN)?.name, 'A file');
});

test('any other line is text: another site, no key, no page, words around the link', () => {
  for (const text of [
    'hello',
    LINK,
    fileLine('a.txt', '2 B', LINK.replace(ORIGIN, 'https://parley.example.evil')),
    fileLine('a.txt', '2 B', LINK.replace(ORIGIN, 'https://evil.example')),
    fileLine('a.txt', '2 B', `${ORIGIN}/p/${PAGE}`),
    fileLine('a.txt', '2 B', `${ORIGIN}/p/${PAGE}#key=short`),
    fileLine('a.txt', '2 B', `${ORIGIN}/r/${PAGE}#key=${KEY}`),
    fileLine('a.txt', 'huge', LINK),
    fileLine('a\nb.txt', '2 B', LINK),
    fileLine('', '2 B', LINK),
    fileLine('x'.repeat(201), '2 B', LINK),
    `${fileLine('a.txt', '2 B', LINK)} and more`,
  ])
    assert.equal(readFileLine(text, ORIGIN), null, text);
});

class RecordingPages implements Pages {
  made: PageMade | PageRefusal = { page: PAGE, key: KEY };
  readonly asked: string[] = [];
  snapshot: PagesSnapshot = { ...fakePages({}).snapshot, pages: [] };
  #listener = (): void => undefined;

  subscribe(listener: () => void): () => void {
    this.#listener = listener;
    return () => this.asked.push('unsubscribed');
  }

  show(view: Pick<PageView, 'page' | 'state'> & Partial<PageView>): void {
    this.snapshot = { ...this.snapshot, pages: [view as PageView] };
    this.#listener();
  }

  make(): Promise<PageMade | PageRefusal> {
    this.asked.push('make');
    return Promise.resolve(this.made);
  }

  read(page: string, key: string | null): void {
    this.asked.push(`read ${page} ${key}`);
  }

  content(page: string): null {
    this.asked.push(`content ${page}`);
    return null;
  }

  drop(page: string): void {
    this.asked.push(`drop ${page}`);
  }

  close(): void {
    this.asked.push('close');
  }
}

interface WithFiles {
  readonly files: CallFiles;
  readonly pages: RecordingPages;
  readonly tab: EventTarget;
}

function filesWith(t: TestContext): WithFiles {
  Object.assign(globalThis, { location: { origin: ORIGIN } });
  t.after(() => Reflect.deleteProperty(globalThis, 'location'));
  const pages = new RecordingPages();
  const tab = new EventTarget();
  return { pages, tab, files: new CallFiles(pages, tab) };
}

const PLAN = new File(['x'.repeat(2048)], 'plan.txt', { type: 'text/plain' });

test('a shared file is an encrypted page whose link is a line of the chat', async (t) => {
  const { files, pages } = filesWith(t);
  const lines: string[] = [];
  const sharing = files.share(PLAN, (line) => lines.push(line) > 0);
  assert.equal(files.preparing.value, 1);
  await sharing;
  assert.deepEqual(lines, [`plan.txt (2 KiB)\n${LINK}`]);
  assert.deepEqual([files.preparing.value, files.problem.value, pages.asked], [0, null, ['make']]);
});

test('files that are dropped while one is prepared are shared after it', async (t) => {
  const { files, pages } = filesWith(t);
  const lines: string[] = [];
  const send = (line: string): boolean => lines.push(line.split('\n')[0] ?? '') > 0;
  const notes = new File(['notes'], 'notes.txt');
  const both = [files.share(PLAN, send), files.share(notes, send)];
  assert.equal(files.preparing.value, 2);
  await Promise.all(both);
  assert.deepEqual(lines, ['plan.txt (2 KiB)', 'notes.txt (5 B)']);
  assert.deepEqual([files.preparing.value, pages.asked], [0, ['make', 'make']]);
});

test('a file over the limit is not read, an empty one is refused, and one whose line is not sent is held no longer', async (t) => {
  const { files, pages } = filesWith(t);
  const large = new File([], 'film.mp4');
  Object.defineProperty(large, 'size', { value: 17 * MIB });
  await files.share(large, () => true);
  assert.match(files.problem.value ?? '', /17 MiB, and the limit is 16 MiB/);
  assert.deepEqual(pages.asked, []);

  pages.made = { code: 'BAD_REQUEST', message: '' };
  await files.share(new File([], 'empty.txt'), () => true);
  assert.match(files.problem.value ?? '', /empty/);

  pages.made = { page: PAGE, key: KEY };
  await files.share(PLAN, () => false);
  assert.match(files.problem.value ?? '', /not connected/);
  assert.equal(pages.asked.at(-1), `drop ${PAGE}`);
  await files.share(PLAN, () => true);
  assert.equal(files.problem.value, null);
});

test('a fetched file is saved once when it is complete, and not one that was cancelled', (t) => {
  const { files, pages } = filesWith(t);
  files.fetch(PAGE, KEY);
  pages.show({ page: PAGE, state: 'fetching' });
  assert.deepEqual(pages.asked, [`read ${PAGE} ${KEY}`]);
  pages.show({ page: PAGE, state: 'here' });
  pages.show({ page: PAGE, state: 'here' });
  assert.deepEqual(pages.asked.slice(1), [`content ${PAGE}`]);
  files.fetch(PAGE, KEY);
  files.drop(PAGE);
  pages.asked.length = 0;
  pages.show({ page: PAGE, state: 'here' });
  assert.deepEqual(pages.asked, []);
});

test('a reload asks before it loses a file that no other participant has, and no more after the call', (t) => {
  const { files, pages, tab } = filesWith(t);
  const asks = (): boolean => !tab.dispatchEvent(new Event('beforeunload', { cancelable: true }));
  assert.equal(asks(), false);
  pages.show({ page: PAGE, state: 'here', own: true, holders: 1 });
  assert.equal(asks(), true);
  pages.show({ page: PAGE, state: 'here', own: true, holders: 2 });
  assert.equal(asks(), false);
  pages.show({ page: PAGE, state: 'here', last: true });
  assert.equal(asks(), true);
  files.close();
  assert.equal(asks(), false);
});

test('the end of the call ends the pages, and nothing is said of a file that was being prepared', async (t) => {
  const { files, pages } = filesWith(t);
  pages.made = { code: 'NOT_READY', message: '' };
  const sharing = files.share(PLAN, () => true);
  files.close();
  await sharing;
  assert.equal(files.problem.value, null);
  assert.deepEqual(
    pages.asked.filter((one) => one !== 'make'),
    ['unsubscribed', 'close'],
  );
});
