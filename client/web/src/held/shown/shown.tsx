/** Displays the content of a page without any permission. */
import type { PageContent } from '@parley/sdk/pages/api';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../design/icon.tsx';
import { displayOf, textOf, type Display } from './display.ts';
import { fileName, shownName } from './file-name.ts';
import { Frame } from './frame.tsx';
import { TOO_MUCH } from './limits.ts';
import { saveFile } from './save-file.ts';
import { switchedOff } from './switched-off.ts';
import './shown.css';
import { amount } from '../words.ts';

export function Shown({ content }: { readonly content: PageContent }) {
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
  if (display === null) return <div class="shown" data-testid="shown" data-as="preparing" />;
  const now = source && display.as === 'frame' ? textOf(content.bytes, null) : display;
  return (
    <div class="shown" data-testid="shown" data-as={now.as}>
      {display.as === 'frame' && (
        <div class="shown-note">
          <p>
            <Icon name="lock" />
            {switchedOff(display)}
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
  const label = shownName(content.name ?? '') || 'The page';
  switch (display.as) {
    case 'text':
      return <Text display={display} content={content} />;
    case 'frame':
      return <Frame srcdoc={display.srcdoc} label={label} />;
    case 'drawing':
      return (
        <div class="shown-stage">
          <img src={display.url} alt={label} />
        </div>
      );
    case 'picture':
    case 'video':
    case 'audio':
      return <Media display={display} label={label} />;
    case 'file':
      return <File content={content} why={display.why === null ? null : TOO_MUCH[display.why]} />;
    default:
      return display satisfies never;
  }
}

function Text({
  display: { text, cut, why },
  content,
}: {
  readonly display: Extract<Display, { readonly as: 'text' }>;
  readonly content: PageContent;
}) {
  return (
    <>
      {(cut || why !== null) && (
        <div class="shown-note sun" role="status" data-testid="too-much">
          <p>
            <Icon name="warning" />
            <span>
              {why !== null && `${TOO_MUCH[why]} This is its source. `}
              {cut && `It is long: these are its first ${amount(new TextEncoder().encode(text).length)}.`}
            </span>
          </p>
          <SaveButton content={content} />
        </div>
      )}
      <pre class="shown-text" tabIndex={0} aria-label="Text of the page" data-testid="page-text">
        {text}
      </pre>
    </>
  );
}

function Media({
  display: { as, blob },
  label,
}: {
  readonly display: Extract<Display, { readonly as: 'picture' | 'video' | 'audio' }>;
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
    <div class="shown-stage">
      {as === 'picture' && <img src={url} alt={label} decoding="async" />}
      {as === 'video' && <video src={url} aria-label={label} controls playsInline preload="metadata" />}
      {as === 'audio' && <audio src={url} aria-label={label} controls preload="metadata" />}
    </div>
  );
}

function File({ content, why }: { readonly content: PageContent; readonly why: string | null }) {
  const name = fileName(content.name, content.type);
  return (
    <div class="shown-file" data-testid="file">
      <div class="notice-sign">
        <Icon name="cloud" />
      </div>
      <h2>{name}</h2>
      <p class="soft">
        {why ?? 'Files of this kind are not shown here.'} It has {amount(content.bytes.length)}. It came from
        another user’s browser: open it only if you trust its author.
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
