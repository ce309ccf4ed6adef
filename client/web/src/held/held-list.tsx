import { pagePath, type PageAddress } from '@parley/protocol/pages';
import type { PageView } from '@parley/sdk/pages/api';
import { Icon } from '../design/icon.tsx';
import { PageLink } from '../pages/page-link.tsx';
import { shownName } from './shown/file-name.ts';
import { endsWithThisTab } from './tab-pages.ts';
import { amount, standing } from './words.ts';

export interface HeldListProps {
  readonly views: readonly PageView[];
  readonly onDrop: (page: PageAddress) => void;
}

/** The pages of this tab. A link to one has its key, because this tab has already read it. */
export function HeldList({ views, onDrop }: HeldListProps) {
  if (views.length === 0) return null;
  return (
    <section class="held-list" aria-labelledby="held-list" data-testid="held-list">
      <h2 id="held-list">In this tab</h2>
      <ul>
        {views.map((view) => (
          <li key={view.page}>
            <PageLink href={pagePath(view.page)}>{titleOf(view)}</PageLink>
            <p class="soft small">
              {[
                endsWithThisTab(view) ? 'Only this tab has it' : standing(view),
                ...(view.head === null ? [] : [amount(view.head.bytes)]),
              ].join(' · ')}
            </p>
            <button
              type="button"
              class="button quiet icon-only"
              aria-label={`Close ${titleOf(view)}`}
              title="Close"
              onClick={() => onDrop(view.page)}
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
  shownName(head?.name ?? '') || `Page ${page.slice(0, 8)}`;
