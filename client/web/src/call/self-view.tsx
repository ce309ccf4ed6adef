import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { nearestCorner } from './corner.ts';
import type { CallSession } from './session.ts';
import { OwnTile } from './tile.tsx';

/** A finger trembles by less. */
const DRAG_FROM_PX = 6;

interface Drag {
  readonly x: number;
  readonly y: number;
  moved: boolean;
}

/** The user's own picture in a corner, over that of the only other participant. It is dragged to another corner, or moved by its button. */
export function SelfView({ session }: { readonly session: CallSession }) {
  const element = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useOpen(element);
  const corner = session.stage.corner.value;
  const drag = useDrag(element, {
    onTap: () => setOpen(!open),
    onDrop: (x, y) => session.stage.moveSelf(nearestCorner(x, y)),
  });
  return (
    <div
      ref={element}
      class={`self-view ${corner}${open ? ' open' : ''}`}
      data-testid="self-view"
      data-corner={corner}
      {...drag}
    >
      <OwnTile session={session} floating />
    </div>
  );
}

/** A finger does not hover: a tap shows the buttons, and one elsewhere hides them. */
function useOpen(element: RefObject<HTMLElement | null>) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return undefined;
    const onPointer = ({ target }: PointerEvent) => {
      if (target instanceof Node && !element.current?.contains(target)) setOpen(false);
    };
    addEventListener('pointerdown', onPointer);
    return () => removeEventListener('pointerdown', onPointer);
  }, [open]);
  return [open, setOpen] as const;
}

interface DragActions {
  readonly onTap: () => void;
  /** The middle of the element, in shares of the size of the stage. */
  readonly onDrop: (x: number, y: number) => void;
}

function useDrag(element: RefObject<HTMLElement | null>, { onTap, onDrop }: DragActions) {
  const drag = useRef<Drag | null>(null);

  function onPointerDown(event: PointerEvent): void {
    const onButton = event.target instanceof Element && event.target.closest('button') !== null;
    if (event.button !== 0 || onButton) return;
    element.current?.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, y: event.clientY, moved: false };
  }

  function onPointerMove({ clientX, clientY }: PointerEvent): void {
    const from = drag.current;
    if (!from || !element.current) return;
    const [x, y] = [clientX - from.x, clientY - from.y];
    from.moved ||= Math.hypot(x, y) > DRAG_FROM_PX;
    if (from.moved) element.current.style.translate = `${x}px ${y}px`;
  }

  function onEnd(): void {
    const view = element.current;
    const stage = view?.closest('.stage')?.getBoundingClientRect();
    const moved = drag.current?.moved;
    drag.current = null;
    if (!view || !stage || moved === undefined) return;
    if (!moved) {
      onTap();
      return;
    }
    const { left, top, width, height } = view.getBoundingClientRect();
    view.style.translate = '';
    onDrop((left + width / 2 - stage.left) / stage.width, (top + height / 2 - stage.top) / stage.height);
  }

  return { onPointerDown, onPointerMove, onPointerUp: onEnd, onPointerCancel: onEnd };
}
