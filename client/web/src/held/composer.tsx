/** Writes a page, or takes a file for one. */
import type { PageContent, PageMade, PageRefusal, Pages, PagesSnapshot } from '@parley/sdk/pages/api';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { LONGEST_NAME, fromFile, written, WRITTEN, type Written } from './draft.ts';
import { refusedFor, type Refused } from './refusals.ts';
import { shownName } from './shown/file-name.ts';
import { Shown } from './shown/shown.tsx';
import { HeldSign } from './sign.tsx';
import { limitsOf } from './tab-pages.ts';
import { amount } from './words.ts';

/** After the last key: a preview of every letter would flicker. */
const PREVIEW_MS = 300;

const PLACEHOLDERS: Readonly<Record<Written, string>> = {
  text: 'Write something, or drop a file here.',
  markdown: '# A title\n\nWrite in Markdown, or drop a file here.',
  html: '<h1>A title</h1>\n<p>Write HTML, or drop a file here. Scripts do not run.</p>',
};

interface ComposerProps {
  readonly pages: Pages;
  readonly snapshot: PagesSnapshot;
  readonly onMade: (made: PageMade) => void;
}

export function Composer({ pages, snapshot, onMade }: ComposerProps) {
  const [kind, setKind] = useState<Written>('markdown');
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  const [file, setFile] = useState<PageContent | null>(null);
  const [sealed, setSealed] = useState(false);
  const [problem, setProblem] = useState<Refused | null>(null);
  const [busy, setBusy] = useState(false);
  const most = snapshot.limits?.pageBytes ?? null;
  const content = file ?? written(kind, text, name);
  const bytes = content.bytes.length;
  const tooLarge = most !== null && bytes > most;

  const take = async (given: File | undefined): Promise<void> => {
    if (!given) return;
    setProblem(null);
    const { pageBytes } = await limitsOf(pages);
    if (given.size > pageBytes) setProblem(largerThan(given.size, pageBytes));
    else {
      const read = await fromFile(given).catch(() => null);
      if (read === null) setProblem({ title: 'That could not be read', body: 'Folders cannot be pages.' });
      else setFile(read);
    }
  };
  const make = async (): Promise<void> => {
    if (tooLarge) {
      setProblem(largerThan(bytes, most));
      return;
    }
    setBusy(true);
    const made = await pages.make(content, { sealed }).catch((): PageRefusal => ({ code: '', message: '' }));
    setBusy(false);
    if ('page' in made) onMade(made);
    else setProblem(refusedFor(made));
  };

  return (
    <form
      class="writer"
      data-testid="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void take(event.dataTransfer?.files[0]);
      }}
      onPaste={(event) => {
        const pasted = event.clipboardData?.files[0];
        if (!pasted) return;
        event.preventDefault();
        void take(pasted);
      }}
    >
      <div class="writer-kinds">
        <div class="segments" role="radiogroup" aria-label="What you write">
          {Object.entries(WRITTEN).map(([each, { label }]) => (
            <label key={each} class="segment">
              <input
                type="radio"
                name="kind"
                value={each}
                checked={file === null && each === kind}
                disabled={file !== null}
                onChange={() => setKind(each as Written)}
              />
              <span>{label}</span>
            </label>
          ))}
        </div>
        <FilePicker onFile={(given) => void take(given)} />
      </div>
      {file === null ? (
        <div class={`writer-panes${kind === 'text' ? '' : ' two'}`}>
          <textarea
            class="writer-text"
            data-testid="page-write"
            data-kind={kind}
            aria-label={`The page in ${WRITTEN[kind].label}`}
            placeholder={PLACEHOLDERS[kind]}
            spellcheck={kind !== 'html'}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setProblem(null);
            }}
          />
          {kind !== 'text' && <Preview key={kind} kind={kind} text={text} />}
        </div>
      ) : (
        <Taken
          file={file}
          onRemove={() => {
            setFile(null);
            setProblem(null);
          }}
        />
      )}
      <div class="writer-foot">
        {file === null && (
          <label class="field writer-name">
            <span class="label">Name, if it should have one</span>
            <input
              class="input"
              data-testid="page-name"
              maxLength={LONGEST_NAME}
              autocomplete="off"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
        )}
        <label class="check writer-seal">
          <input
            type="checkbox"
            data-testid="page-seal"
            checked={sealed}
            onChange={(event) => setSealed(event.currentTarget.checked)}
          />
          <span>
            <strong>Seal it.</strong> Only who has the whole link can read it; who passes it on cannot.
          </span>
        </label>
        <p
          class={`writer-size${tooLarge ? ' over' : ''}`}
          data-testid="size"
          data-bytes={bytes}
          aria-live="polite"
        >
          {most === null ? amount(bytes) : `${amount(bytes)} of ${amount(most)}`}
        </p>
        <button
          type="submit"
          class="button primary large"
          data-testid="page-make"
          disabled={bytes === 0 || busy || most === null}
        >
          {busy ? 'Making it…' : most === null ? 'Connecting…' : 'Make the page'}
        </button>
      </div>
      {problem !== null && <Problem {...problem} />}
      {problem === null && snapshot.refusal !== null && <Problem {...refusedFor(snapshot.refusal)} />}
    </form>
  );
}

function Problem({ title, body }: Refused) {
  return (
    <div class="callout bad" role="alert" data-testid="page-refused">
      <Icon name="warning" />
      <p>
        <strong>{title}</strong>
        {body}
      </p>
    </div>
  );
}

const largerThan = (bytes: number, most: number): Refused => ({
  title: 'This is too large for a page',
  body: `It has ${amount(bytes)}, and a page has at most ${amount(most)}: every reader keeps all of it in memory.`,
});

function FilePicker({ onFile }: { readonly onFile: (file: File | undefined) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        tabIndex={-1}
        aria-label="File for the page"
        data-testid="page-file"
        onChange={(event) => {
          onFile(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      <button type="button" class="button" data-testid="pick-file" onClick={() => input.current?.click()}>
        <HeldSign name="file" />
        Take a file
      </button>
    </>
  );
}

function Preview({ kind, text }: { readonly kind: Written; readonly text: string }) {
  const [content, setContent] = useState<PageContent>(() => written(kind, text, ''));
  useEffect(() => {
    const timer = setTimeout(() => setContent(written(kind, text, '')), PREVIEW_MS);
    return () => clearTimeout(timer);
  }, [kind, text]);
  return (
    <section class="writer-preview" aria-label="Preview" data-testid="preview">
      {content.bytes.length === 0 ? (
        <p class="soft writer-empty">The page appears here as you write.</p>
      ) : (
        <Shown content={content} />
      )}
    </section>
  );
}

function Taken({ file, onRemove }: { readonly file: PageContent; readonly onRemove: () => void }) {
  return (
    <div class="taken" data-testid="taken">
      <div class="taken-head">
        <HeldSign name="file" />
        <p>
          <strong>{shownName(file.name ?? 'A file')}</strong>
          <span class="soft small">
            {file.type} · {amount(file.bytes.length)}
          </span>
        </p>
        <button type="button" class="button quiet" data-testid="remove-file" onClick={onRemove}>
          Remove
        </button>
      </div>
      <section class="writer-preview" aria-label="Preview" data-testid="preview">
        <Shown content={file} />
      </section>
    </div>
  );
}
