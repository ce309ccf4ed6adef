/** The form that creates a page, from text or from a file. */
import type { PageContent, PageMade, Pages, PagesSnapshot } from '@parley/sdk/pages/api';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { MAX_NAME_CHARS, contentOfText, TEXT_FORMATS, type TextFormat } from './draft.ts';
import { refusedFor, type Refused } from './refusals.ts';
import { shownName } from './shown/file-name.ts';
import { Shown } from './shown/shown.tsx';
import { HeldSign } from './sign.tsx';
import { useDraft, type Draft } from './use-draft.ts';
import { amount } from './words.ts';

/** From the last keystroke: a preview of every letter would flicker. */
const PREVIEW_DELAY_MS = 300;

const PLACEHOLDERS: Readonly<Record<TextFormat, string>> = {
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
  const draft = useDraft(pages, { maxBytes: snapshot.limits?.pageBytes ?? null, onMade });
  const { file, problem } = draft;
  return (
    <form
      class="writer"
      data-testid="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void draft.submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void draft.attach(event.dataTransfer?.files[0]);
      }}
      onPaste={(event) => {
        const pasted = event.clipboardData?.files[0];
        if (!pasted) return;
        event.preventDefault();
        void draft.attach(pasted);
      }}
    >
      <div class="writer-kinds">
        <FormatChoice draft={draft} />
        <FilePicker onFile={(given) => void draft.attach(given)} />
      </div>
      {file === null ? <Editor draft={draft} /> : <AttachedFile file={file} onRemove={draft.detach} />}
      <Footer draft={draft} />
      {problem !== null && <Problem {...problem} />}
      {problem === null && snapshot.refusal !== null && <Problem {...refusedFor(snapshot.refusal)} />}
    </form>
  );
}

function FormatChoice({ draft: { file, format, setFormat } }: { readonly draft: Draft }) {
  return (
    <div class="segments" role="radiogroup" aria-label="Format">
      {Object.entries(TEXT_FORMATS).map(([each, { label }]) => (
        <label key={each} class="segment">
          <input
            type="radio"
            name="kind"
            value={each}
            checked={file === null && each === format}
            disabled={file !== null}
            onChange={() => setFormat(each as TextFormat)}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
  );
}

function Editor({ draft: { format, text, setText } }: { readonly draft: Draft }) {
  return (
    <div class={`writer-panes${format === 'text' ? '' : ' two'}`}>
      <textarea
        class="writer-text"
        data-testid="page-write"
        data-kind={format}
        aria-label={`The page in ${TEXT_FORMATS[format].label}`}
        placeholder={PLACEHOLDERS[format]}
        spellcheck={format !== 'html'}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {format !== 'text' && <Preview key={format} format={format} text={text} />}
    </div>
  );
}

function Footer({ draft }: { readonly draft: Draft }) {
  const { file, name, setName, sealed, setSealed, bytes, maxBytes, tooLarge, busy } = draft;
  return (
    <div class="writer-foot">
      {file === null && (
        <label class="field writer-name">
          <span class="label">Name (optional)</span>
          <input
            class="input"
            data-testid="page-name"
            maxLength={MAX_NAME_CHARS}
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
          <strong>Encrypt the page.</strong> Only people with the complete link can read it. Browsers and
          servers that pass it on cannot.
        </span>
      </label>
      <p
        class={`writer-size${tooLarge ? ' over' : ''}`}
        data-testid="size"
        data-bytes={bytes}
        aria-live="polite"
      >
        {maxBytes === null ? amount(bytes) : `${amount(bytes)} of ${amount(maxBytes)}`}
      </p>
      <button
        type="submit"
        class="button primary large"
        data-testid="page-make"
        disabled={bytes === 0 || busy || maxBytes === null}
      >
        {busy ? 'Creating…' : maxBytes === null ? 'Connecting…' : 'Create the page'}
      </button>
    </div>
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
        Choose a file
      </button>
    </>
  );
}

function Preview({ format, text }: { readonly format: TextFormat; readonly text: string }) {
  const [content, setContent] = useState<PageContent>(() => contentOfText(format, text, ''));
  useEffect(() => {
    const timer = setTimeout(() => setContent(contentOfText(format, text, '')), PREVIEW_DELAY_MS);
    return () => clearTimeout(timer);
  }, [format, text]);
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

function AttachedFile({ file, onRemove }: { readonly file: PageContent; readonly onRemove: () => void }) {
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
