/** Displays the content of a page without any permission. */
import type { PageContent } from '@parley/sdk/pages/api';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../design/icon.tsx';
import { displayOf, textOf, type Display } from './display.ts';
import { displayName } from './display-name.ts';
import { fileName } from './file-name.ts';
import { ContentFrame } from './content-frame.tsx';
import { FALLBACK_TEXT } from './limits.ts';
import { saveFile } from './save-file.ts';
import { disabledText } from './disabled-text.ts';
import './content-view.css';
import { formatBinarySize } from '../page-text.ts';

export function ContentView({ content }: { readonly content: PageContent }) {
  const [display, setDisplay] = useState<Display | null>(null);
  const [source, setSource] = useState(false);
  useEffect(() => {
    let wanted = true;
    void displayOf(content).then((found) => {
      if (wanted) setDisplay(found);
    });
    return () => {
      wanted = false;
    };
  }, [content]);
  if (display === null) return <div class="content" data-testid="content" data-as="preparing" />;
  const now = source && display.as === 'frame' ? textOf(content.bytes, null) : display;
  return (
    <div class="content" data-testid="content" data-as={now.as}>
      {display.as === 'frame' && (
        <div class="content-note">
          <p>
            <Icon name="lock" />
            {disabledText(display)}
          </p>
          <button
            type="button"
            class="button quiet"
            aria-pressed={source}
            data-testid="source"
            onClick={() => setSource(!source)}
          >
            Source
          </button>
        </div>
      )}
      <Body display={now} content={content} />
    </div>
  );
}

function Body({ display, content }: { readonly display: Display; readonly content: PageContent }) {
  const label = displayName(content.name ?? '') || 'The page';
  switch (display.as) {
    case 'text':
      return <Text display={display} content={content} />;
    case 'frame':
      return <ContentFrame srcdoc={display.srcdoc} label={label} />;
    case 'svg':
      return (
        <div class="content-stage">
          <img src={display.url} alt={label} />
        </div>
      );
    case 'image':
    case 'video':
    case 'audio':
      return <Media display={display} label={label} />;
    case 'file':
      return (
        <File content={content} reason={display.reason === null ? null : FALLBACK_TEXT[display.reason]} />
      );
    default:
      return display satisfies never;
  }
}

function Text({
  display: { text, cut, reason },
  content,
}: {
  readonly display: Extract<Display, { readonly as: 'text' }>;
  readonly content: PageContent;
}) {
  return (
    <>
      {(cut || reason !== null) && (
        <div class="content-note sun" role="status" data-testid="fallback-reason">
          <p>
            <Icon name="warning" />
            <span>
              {reason !== null && `${FALLBACK_TEXT[reason]} This is its source. `}
              {cut &&
                `It is long: these are its first ${formatBinarySize(new TextEncoder().encode(text).length)}.`}
            </span>
          </p>
          <SaveButton content={content} />
        </div>
      )}
      <pre class="content-text" tabIndex={0} aria-label="Text of the page" data-testid="page-text">
        {text}
      </pre>
    </>
  );
}

function Media({
  display: { as, blob },
  label,
}: {
  readonly display: Extract<Display, { readonly as: 'image' | 'video' | 'audio' }>;
  readonly label: string;
}) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  if (url === null) return null;
  return (
    <div class="content-stage">
      {as === 'image' && <img src={url} alt={label} decoding="async" />}
      {as === 'video' && <video src={url} aria-label={label} controls playsInline preload="metadata" />}
      {as === 'audio' && <audio src={url} aria-label={label} controls preload="metadata" />}
    </div>
  );
}

function File({ content, reason }: { readonly content: PageContent; readonly reason: string | null }) {
  const name = fileName(content.name, content.type);
  return (
    <div class="content-file" data-testid="file">
      <div class="notice-icon">
        <Icon name="cloud" />
      </div>
      <h2>{name}</h2>
      <p class="soft">
        {reason ?? 'Files of this kind are not shown here.'} It has {formatBinarySize(content.bytes.length)}.
        It came from another user’s browser: open it only if you trust its author.
      </p>
      <SaveButton content={content} />
    </div>
  );
}

function SaveButton({ content }: { readonly content: PageContent }) {
  return (
    <button type="button" class="button" data-testid="save" onClick={() => saveFile(content)}>
      Download
    </button>
  );
}
