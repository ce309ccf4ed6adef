import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';

export interface PanelProps {
  readonly title: string;
  readonly testid: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Moves the focus when the focused element is removed from a panel. */
export function focusPanel(): void {
  document.querySelector<HTMLElement>('.panel h2')?.focus({ preventScroll: true });
}

/** Shown beside the stage on a wide screen and above all content on a phone. Takes the focus when it opens. */
export function Panel({ title, testid, onClose, children }: PanelProps) {
  const element = useRef<HTMLElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const panel = element.current;
    const first = panel?.querySelector<HTMLElement>('textarea') ?? panel?.querySelector<HTMLElement>('h2');
    first?.focus({ preventScroll: true });
  }, []);
  return (
    <aside ref={element} class="panel" aria-labelledby={titleId} data-testid={testid}>
      <div class="panel-head">
        <h2 id={titleId} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="button quiet icon-only" aria-label={`Close ${title}`} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </aside>
  );
}
