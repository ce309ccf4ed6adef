/** The form that creates a page, from text or from a file. */
import type { PageContent, PageMade, Pages, PagesSnapshot } from '@parley/sdk/pages/api';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { MAX_NAME_CHARS, contentOfText, TEXT_FORMATS, type TextFormat } from './draft.ts';
import { refusedFor, type Refused } from './refusals.ts';
import { displayName } from './content/display-name.ts';
import { ContentView } from './content/content-view.tsx';
import { PageIcon } from './page-icon.tsx';
import { useDraft, type Draft } from './use-draft.ts';
import { formatBinarySize } from './page-text.ts';

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
  readonly onCreated: (made: PageMade) => void;
}

export function Composer({ pages, snapshot, onCreated }: ComposerProps) {
  const draft = useDraft(pages, { maxBytes: snapshot.limits?.pageBytes ?? null, onCreated });
  const { file, problem } = draft;
  return (
    <form
      class="page-composer"
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
      <div class="page-composer-formats">
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
    <div class={`page-composer-panes${format === 'text' ? '' : ' two'}`}>
      <textarea
        class="page-composer-text"
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
  const { file, name, setName, encrypted, setEncrypted, bytes, maxBytes, tooLarge, busy } = draft;
  return (
    <div class="page-composer-foot">
      {file === null && (
        <label class="field page-composer-name">
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
      <label class="check page-composer-encrypt">
        <input
          type="checkbox"
          data-testid="page-encrypt"
          checked={encrypted}
          onChange={(event) => setEncrypted(event.currentTarget.checked)}
        />
        <span>
          <strong>Encrypt the page.</strong> Only people with the complete link can read it. Browsers and
          servers that pass it on cannot.
        </span>
      </label>
      <p
        class={`page-composer-size${tooLarge ? ' over' : ''}`}
        data-testid="size"
        data-bytes={bytes}
        aria-live="polite"
      >
        {maxBytes === null
          ? formatBinarySize(bytes)
          : `${formatBinarySize(bytes)} of ${formatBinarySize(maxBytes)}`}
      </p>
      <button
        type="submit"
        class="button primary large"
        data-testid="create-page"
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
        <PageIcon name="file" />
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
    <section class="page-composer-preview" aria-label="Preview" data-testid="preview">
      {content.bytes.length === 0 ? (
        <p class="soft page-composer-empty">The page appears here as you write.</p>
      ) : (
        <ContentView content={content} />
      )}
    </section>
  );
}

function AttachedFile({ file, onRemove }: { readonly file: PageContent; readonly onRemove: () => void }) {
  return (
    <div class="attached-file" data-testid="attached-file">
      <div class="attached-file-head">
        <PageIcon name="file" />
        <p>
          <strong>{displayName(file.name ?? 'A file')}</strong>
          <span class="soft small">
            {file.type} · {formatBinarySize(file.bytes.length)}
          </span>
        </p>
        <button type="button" class="button quiet" data-testid="remove-file" onClick={onRemove}>
          Remove
        </button>
      </div>
      <section class="page-composer-preview" aria-label="Preview" data-testid="preview">
        <ContentView content={file} />
      </section>
    </div>
  );
}
