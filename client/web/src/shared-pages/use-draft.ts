/** The state of the form that creates a page. */
import type { PageContent, PageMade, PageRefusal, Pages } from '@parley/sdk/pages/api';
import { useState } from 'preact/hooks';
import { contentOfFile, contentOfText, type TextFormat } from './draft.ts';
import { refusedFor, type Refused } from './refusals.ts';
import { receivedLimits } from './tab-pages.ts';
import { formatBinarySize } from './page-text.ts';

export interface Draft {
  readonly format: TextFormat;
  readonly text: string;
  readonly name: string;
  /** Replaces the text; `null` while the page is written in the form. */
  readonly file: PageContent | null;
  readonly encrypted: boolean;
  readonly problem: Refused | null;
  readonly busy: boolean;
  readonly bytes: number;
  /** `null` before the service sent its limits. */
  readonly maxBytes: number | null;
  readonly tooLarge: boolean;
  readonly setFormat: (format: TextFormat) => void;
  readonly setText: (text: string) => void;
  readonly setName: (name: string) => void;
  readonly setEncrypted: (encrypted: boolean) => void;
  readonly attach: (file: File | undefined) => Promise<void>;
  readonly detach: () => void;
  readonly submit: () => Promise<void>;
}

export interface DraftOptions {
  readonly maxBytes: number | null;
  readonly onCreated: (made: PageMade) => void;
}

export function useDraft(pages: Pages, { maxBytes, onCreated }: DraftOptions): Draft {
  const [format, setFormat] = useState<TextFormat>('markdown');
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  const [file, setFile] = useState<PageContent | null>(null);
  const [encrypted, setEncrypted] = useState(false);
  const [problem, setProblem] = useState<Refused | null>(null);
  const [busy, setBusy] = useState(false);
  const content = file ?? contentOfText(format, text, name);
  const bytes = content.bytes.length;
  const tooLarge = maxBytes !== null && bytes > maxBytes;

  const attach = async (given: File | undefined): Promise<void> => {
    if (!given) return;
    setProblem(null);
    const { pageBytes } = await receivedLimits(pages);
    if (given.size > pageBytes) {
      setProblem(tooLargeProblem(given.size, pageBytes));
      return;
    }
    const read = await contentOfFile(given).catch(() => null);
    if (read === null) setProblem({ title: 'The file cannot be read', body: 'A folder cannot be a page.' });
    else setFile(read);
  };
  const submit = async (): Promise<void> => {
    if (tooLarge) {
      setProblem(tooLargeProblem(bytes, maxBytes));
      return;
    }
    setBusy(true);
    const made = await pages
      .make(content, { encrypted })
      .catch((): PageRefusal => ({ code: '', message: '' }));
    setBusy(false);
    if ('page' in made) onCreated(made);
    else setProblem(refusedFor(made));
  };
  const state = { format, text, name, file, encrypted, problem, busy, bytes, maxBytes, tooLarge };
  const setters = { setFormat, setName, setEncrypted };
  return {
    ...state,
    ...setters,
    attach,
    submit,
    setText: (changed) => {
      setText(changed);
      setProblem(null);
    },
    detach: () => {
      setFile(null);
      setProblem(null);
    },
  };
}

const tooLargeProblem = (bytes: number, maxBytes: number): Refused => ({
  title: 'This is too large for a page',
  body: `It has ${formatBinarySize(bytes)}, and the limit is ${formatBinarySize(maxBytes)}, because every reader keeps the complete page in memory.`,
});
