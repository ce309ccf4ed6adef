import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

let pages = 0;

/**
 * Sets the title of the tab, and moves the focus to the heading when the page replaces another one, so that a screen reader starts there. Not for
 * the first page, where the browser places the focus.
 */
export function usePageTitle(title: string): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement | null>(null);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (pages++ > 0) heading.current?.focus();
  }, []);
  return heading;
}
