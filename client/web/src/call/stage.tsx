import type { RoomView } from '@parley/protocol/http';
import type { Person } from '@parley/sdk/call';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { gridLayout, stripSide } from './layout.ts';
import { OwnScreen, SharedScreen } from './screen-tile.tsx';
import type { CallSession } from './session.ts';
import { OwnTile, PersonTile } from './tile.tsx';

const GAP = 12;

/** Everyone in a grid, or a shared screen with everyone beside it. */
export function Stage({ session }: { readonly session: CallSession }) {
  const [size, ref] = useSize();
  const { people, connection } = session.snapshot.value;
  const ownScreen = session.screen.value;
  const sharer = people.find((person) => person.screen !== null);

  if (ownScreen || sharer) {
    return (
      <div ref={ref} class={`stage sharing ${stripSide(size.width, size.height)}`} data-testid="stage">
        {sharer ? <SharedScreen person={sharer} /> : <OwnScreen session={session} />}
        <div class="strip" tabIndex={0} role="group" aria-label="People in the call">
          <Tiles session={session} people={people} />
        </div>
      </div>
    );
  }

  const alone = people.length === 0 && connection.status === 'connected';
  const count = people.length + 1 + (alone ? 1 : 0);
  const grid = gridLayout({ count, width: size.width, height: size.height, gap: GAP });
  return (
    <div
      ref={ref}
      class={`stage grid${count > 6 ? ' many' : ''}`}
      data-testid="stage"
      style={{ '--tile-width': `${grid.tileWidth}px`, '--tile-height': `${grid.tileHeight}px` }}
    >
      <div
        class="grid-rows"
        style={{ maxWidth: `${grid.columns * grid.tileWidth + (grid.columns - 1) * GAP}px` }}
      >
        <Tiles session={session} people={people} />
        {alone && <Invitation session={session} />}
      </div>
    </div>
  );
}

function Tiles({ session, people }: { readonly session: CallSession; readonly people: readonly Person[] }) {
  return (
    <>
      {people.map((person) => (
        <PersonTile key={person.participant} session={session} person={person} />
      ))}
      <OwnTile key="self" session={session} />
    </>
  );
}

function Invitation({ session }: { readonly session: CallSession }) {
  return (
    <section class="tile invitation" data-testid="alone">
      <h2>You are the only one here</h2>
      <p class="soft">Share the link and wait for the others, {arrival(session.snapshot.value.view)}.</p>
      <p class="invitation-link">{session.link.replace(/^https?:\/\//, '')}</p>
      <CopyButton text={session.link} label="Copy link" primary testid="invite-copy" />
    </section>
  );
}

function arrival(view: RoomView | null): string {
  if (view?.locked) return 'but unlock the room first';
  return view?.lobby ? 'who knock before they come in' : 'they come straight in';
}

function useSize() {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  // Every time: the element is another one when a screen is shared or not.
  const observed = useRef<Element | null>(null);
  const observer = useRef<ResizeObserver | null>(null);
  useEffect(() => {
    observer.current ??= new ResizeObserver(([entry]) => {
      if (entry) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    if (observed.current === ref.current || !ref.current) return;
    if (observed.current) observer.current.unobserve(observed.current);
    observed.current = ref.current;
    observer.current.observe(ref.current);
  });
  useEffect(() => () => observer.current?.disconnect(), []);
  return [size, ref] as const;
}
