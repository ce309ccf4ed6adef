import { useEffect } from 'preact/hooks';

/** Closes what is open when the user presses, or moves the focus to, something outside the element. */
export function useCloseOutside(
  element: { readonly current: HTMLElement | null },
  open: boolean,
  close: () => void,
): void {
  useEffect(() => {
    if (!open) return undefined;
    const onEvent = ({ target }: Event) => {
      if (target instanceof Node && !element.current?.contains(target)) close();
    };
    addEventListener('pointerdown', onEvent);
    addEventListener('focusin', onEvent);
    return () => {
      removeEventListener('pointerdown', onEvent);
      removeEventListener('focusin', onEvent);
    };
  }, [open]);
}
