import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Person } from '@parley/sdk/call';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { gridLayout, stripSide } from './layout.ts';
import { OwnScreen, ScreenThumbnail, SharedScreen } from './screen-tile.tsx';
import { stageOrder, MAX_TILES, maxTiles, planStage, type StagePlan } from './stage-plan.ts';
import type { CallSession } from './session.ts';
import { OwnTile, PersonTile } from './tile.tsx';

const GAP = 12;
/** A tile beside a shared screen. */
const STRIP = { width: 240, height: 135 };
/** The number of tiles beside a large one; the rest is on further pages. */
const BESIDE = 11;

/** All participants in a grid, or a shared screen, a pinned participant or the active speaker with the others beside. */
export function Stage({ session }: { readonly session: CallSession }) {
  const [size, ref] = useSize();
  const { people, connection } = session.snapshot.value;
  const [sharer, ...otherSharers] = sharersOf(session);
  const sharing = session.screen.value !== null || sharer !== undefined;
  const alone = people.length === 0 && connection.status === 'connected';
  const { large, tiles } = usePlan(session, size, sharing);
  const shown = tiles.flatMap((one) => people.find(({ participant }) => participant === one) ?? []);
  const largePerson = people.find(({ participant }) => participant === large);
  const count = shown.length + 1 + (alone ? 1 : 0);
  const grid = gridLayout({ count, width: size.width, height: size.height, gap: GAP });
  const beside = sharing || largePerson !== undefined;
  const [width, height] = beside ? [STRIP.width, STRIP.height] : [grid.tileWidth, grid.tileHeight];
  const everyone = people.map((person) => person.participant).join();
  useEffect(() => {
    if (width === 0) return;
    for (const { participant } of people) {
      const tile = tiles.includes(participant) ? { width, height } : null;
      session.showCamera(participant, participant === large ? size : tile);
    }
  }, [session, everyone, tiles.join(), large, width, height, size.width, size.height]);

  if (beside) {
    return (
      <div ref={ref} class={`stage sharing ${stripSide(size.width, size.height)}`} data-testid="stage">
        {largePerson ? (
          <PersonTile key={`large-${largePerson.participant}`} session={session} person={largePerson} large />
        ) : sharer ? (
          <SharedScreen person={sharer} />
        ) : (
          <OwnScreen session={session} />
        )}
        <div class="strip" tabIndex={0} role="group" aria-label="People in the call">
          {otherSharers.map((person) => (
            <ScreenThumbnail key={`screen-${person.participant}`} session={session} person={person} />
          ))}
          <Tiles session={session} people={shown} />
        </div>
      </div>
    );
  }

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
        <Tiles session={session} people={shown} />
        {alone && <Invitation session={session} />}
      </div>
    </div>
  );
}

/** Those who share their screens; that of the first is large. */
function sharersOf({ snapshot, stage }: CallSession): readonly Person[] {
  const sharers = snapshot.value.people.filter((person) => person.screen !== null);
  const isChosen = ({ participant }: Person): boolean => participant === stage.sharer.value;
  return [...sharers.filter(isChosen), ...sharers.filter((person) => !isChosen(person))];
}

/** The order stays as stable as possible, so that tiles do not move during a conversation. */
function usePlan(session: CallSession, size: Size, sharing: boolean): StagePlan {
  const order = useRef<readonly ParticipantId[]>([]);
  const { stage, speakers } = session;
  const speaker = session.speaker.value;
  const people = session.snapshot.value.people.map(({ participant }) => participant);
  const max = {
    grid: size.width === 0 ? MAX_TILES - 1 : maxTiles({ ...size, gap: GAP }) - 1,
    beside: BESIDE,
  };
  order.current = stageOrder(order.current, people, {
    speaker,
    spokeAt: speakers.spokeAt,
    perPage: max.grid,
  });
  const plan = planStage({
    people: order.current,
    view: stage.view.value,
    sharing,
    pinned: stage.pinned.value,
    speaker,
    page: stage.page.value,
    max,
  });
  useEffect(() => stage.shown(plan.page, plan.pages), [stage, plan.page, plan.pages]);
  return plan;
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
      <p class="soft">Share the link to invite others. {arrival(session.snapshot.value.view)}</p>
      <p class="invitation-link">{session.link.replace(/^https?:\/\//, '')}</p>
      <CopyButton text={session.link} label="Copy link" primary testid="invite-copy" />
    </section>
  );
}

function arrival(view: RoomView | null): string {
  if (view?.locked) return 'The room is locked: the owner must unlock it first.';
  return view?.lobby ? 'They wait in the lobby until the owner admits them.' : 'They join at once.';
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function useSize() {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  // On every render: the element changes when a screen is shared or not.
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
