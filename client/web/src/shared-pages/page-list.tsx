import { pagePath, type PageAddress } from '@parley/protocol/pages';
import type { PageView } from '@parley/sdk/pages/api';
import { Icon } from '../design/icon.tsx';
import { PageLink } from '../pages/page-link.tsx';
import { displayName } from './content/display-name.ts';
import { isLastCopy } from './tab-pages.ts';
import { formatBinarySize, countsText } from './page-text.ts';

export interface PageListProps {
  readonly views: readonly PageView[];
  readonly onClosePage: (page: PageAddress) => void;
}

/** The pages of this tab. A link to one has its key, because this tab has already read it. */
export function PageList({ views, onClosePage }: PageListProps) {
  if (views.length === 0) return null;
  return (
    <section class="page-list" aria-labelledby="page-list" data-testid="page-list">
      <h2 id="page-list">In this tab</h2>
      <ul>
        {views.map((view) => (
          <li key={view.page}>
            <PageLink href={pagePath(view.page)}>{titleOf(view)}</PageLink>
            <p class="soft small">
              {[
                isLastCopy(view) ? 'Only this tab has it' : countsText(view),
                ...(view.head === null ? [] : [formatBinarySize(view.head.bytes)]),
              ].join(' · ')}
            </p>
            <button
              type="button"
              class="button quiet icon-only"
              aria-label={`Close ${titleOf(view)}`}
              title="Close"
              onClick={() => onClosePage(view.page)}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The name of the page, or the beginning of its address. */
export const titleOf = ({ head, page }: Pick<PageView, 'head' | 'page'>): string =>
  displayName(head?.name ?? '') || `Page ${page.slice(0, 8)}`;
