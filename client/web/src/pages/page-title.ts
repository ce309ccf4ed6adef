import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

let pages = 0;

/**
 * Names the page in the tab, and moves the focus to its heading when it replaces another page, so that a screen reader starts there. The
 * first page is left alone: the browser has placed the focus itself.
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
