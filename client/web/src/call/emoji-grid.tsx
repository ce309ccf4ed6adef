import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { emojiName, nextCell } from './emoji.ts';

interface EmojiGridProps {
  readonly emoji: readonly string[];
  readonly label: string;
  readonly testid: string;
  readonly onPick: (emoji: string) => void;
}

/** One stop for Tab; the arrow keys move inside. Takes the focus when it opens. */
export function EmojiGrid({ emoji, label, testid, onPick }: EmojiGridProps) {
  const element = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  // The page does not scroll to a menu that opens; the grid scrolls to its cells.
  useLayoutEffect(() => cellOf(element.current, 0)?.focus({ preventScroll: true }), []);

  function onKeyDown(event: KeyboardEvent): void {
    if (!element.current) return;
    const columns = getComputedStyle(element.current).gridTemplateColumns.split(' ').length;
    const next = nextCell(event.key, { at, columns, count: emoji.length });
    if (next === undefined) return;
    event.preventDefault();
    setAt(next);
    cellOf(element.current, next)?.focus();
  }

  return (
    <div
      ref={element}
      class="emoji-grid"
      role="group"
      aria-label={label}
      data-testid={testid}
      onKeyDown={onKeyDown}
    >
      {emoji.map((one, index) => (
        <button
          key={one}
          type="button"
          class="emoji"
          aria-label={emojiName(one)}
          title={emojiName(one)}
          tabIndex={index === at ? 0 : -1}
          onFocus={() => setAt(index)}
          onClick={() => onPick(one)}
        >
          {one}
        </button>
      ))}
    </div>
  );
}

const cellOf = (grid: HTMLElement | null, index: number): HTMLElement | undefined =>
  grid?.querySelectorAll<HTMLElement>('.emoji')[index];
