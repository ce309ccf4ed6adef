/** Tells the user that the page exists only while a tab has it open. */
import type { PageView } from '@parley/sdk/pages/api';
import { useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { Icon } from '../design/icon.tsx';
import { PageIcon } from './page-icon.tsx';
import { KEEP_OPEN_TEXT } from './page-text.ts';

export interface KeepOpenNoticeProps {
  readonly view: PageView;
  readonly link: string;
  /** The link has a key. */
  readonly encrypted: boolean;
}

export function KeepOpenNotice({ view, link, encrypted }: KeepOpenNoticeProps) {
  const [hidden, setHidden] = useState(false);
  if (view.state !== 'here') return null;
  if (view.own && !hidden)
    return (
      <section class="share" aria-label="Your page" data-testid="share">
        <div class="share-text">
          <h2>Your page is ready</h2>
          <p data-testid="keep-open">
            {KEEP_OPEN_TEXT} {encrypted && 'Its key is in the link: without it the page cannot be read.'}
          </p>
        </div>
        <code class="secret share-link" data-testid="link">
          {link}
        </code>
        <div class="share-actions">
          <CopyButton text={link} label="Copy link" primary testid="copy-share" />
          {typeof navigator.share === 'function' && (
            <button type="button" class="button" data-testid="system-share" onClick={() => void share(link)}>
              <PageIcon name="share" />
              Share
            </button>
          )}
          <button type="button" class="button quiet" data-testid="hide-share" onClick={() => setHidden(true)}>
            Hide
          </button>
        </div>
      </section>
    );
  if (!view.last) return null;
  return (
    <p class="callout" role="status" data-testid="last">
      <Icon name="warning" />
      <span>
        <strong>Only this tab has the page.</strong>
        If you close or reload this tab, the page is gone. It is not stored on a server.
      </span>
    </p>
  );
}

/** A user may cancel the share sheet. */
async function share(url: string): Promise<void> {
  await navigator.share({ url }).catch(() => undefined);
}
