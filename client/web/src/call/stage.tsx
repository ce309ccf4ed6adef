import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Person } from '@parley/sdk/call';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { gridLayout, stripSide } from './layout.ts';
import { OtherReactions } from './reactions.tsx';
import { ScreenThumbnail, SharedScreen } from './screen-tile.tsx';
import { SelfView } from './self-view.tsx';
import { stageOrder, MAX_TILES, maxTiles, planStage, type StagePlan } from './stage-plan.ts';
import type { CallSession } from './session.ts';
import { OwnTile, PersonTile } from './tile.tsx';

const GAP = 12;
/** A tile beside a shared screen. */
const STRIP = { width: 240, height: 135 };
/** The number of tiles beside a large one; the rest is on further pages. */
const BESIDE = 11;

/**
 * All participants in a grid; or a shared screen, a pinned participant or the active speaker with the others beside; or the only other participant
 * with the user's own picture in a corner.
 */
export function Stage({ session }: { readonly session: CallSession }) {
  const [size, ref] = useSize();
  const { people, connection, me } = session.snapshot.value;
  const [sharer, ...otherSharers] = sharersOf(session);
  const sharing = sharer !== undefined;
  const alone = people.length === 0 && connection.status === 'connected';
  const { large, tiles } = usePlan(session, size, sharing);
  const shown = tiles.flatMap((one) => people.find(({ participant }) => participant === one) ?? []);
  const largePerson = people.find(({ participant }) => participant === large);
  const self = alone || people.length === 0 || session.stage.self.value;
  const count = shown.length + (self ? 1 : 0) + (alone ? 1 : 0);
  const grid = gridLayout({ count, width: size.width, height: size.height, gap: GAP });
  const beside = sharing || largePerson !== undefined;
  const two = largePerson !== undefined && people.length === 1;
  const visible = [largePerson, ...(two ? people : shown)].map((person) => person?.participant);
  const reactions = (
    <OtherReactions session={session} shown={self ? [...visible, me.participant] : visible} />
  );
  const [width, height] = beside ? [STRIP.width, STRIP.height] : [grid.tileWidth, grid.tileHeight];
  useCameraSizes(session, { tiles, large }, { tile: { width, height }, stage: size });

  if (beside && !two) {
    return (
      <div ref={ref} class={`stage sharing ${stripSide(size.width, size.height)}`} data-testid="stage">
        {largePerson ? (
          <PersonTile key={`large-${largePerson.participant}`} session={session} person={largePerson} large />
        ) : (
          sharer && <SharedScreen session={session} person={sharer} />
        )}
        <Strip session={session} people={shown} self={self} sharers={otherSharers} />
        {reactions}
      </div>
    );
  }

  return (
    <div
      ref={ref}
      class={`stage ${two ? 'two' : 'grid'}${count > 6 ? ' many' : ''}`}
      data-testid="stage"
      style={{ '--tile-width': `${grid.tileWidth}px`, '--tile-height': `${grid.tileHeight}px` }}
    >
      <div
        class="grid-rows"
        style={{ maxWidth: two ? '' : `${grid.columns * grid.tileWidth + (grid.columns - 1) * GAP}px` }}
      >
        <Tiles session={session} people={two ? people : shown} self={self} two={two} />
        {alone && <Invitation session={session} />}
      </div>
      {reactions}
    </div>
  );
}

/** Tells the call how large each camera is shown. */
function useCameraSizes(
  session: CallSession,
  { tiles, large }: Pick<StagePlan, 'tiles' | 'large'>,
  { tile, stage }: { readonly tile: Size; readonly stage: Size },
): void {
  const { people } = session.snapshot.value;
  const full = useFullscreen();
  const everyone = people.map((person) => person.participant).join();
  useEffect(() => {
    if (tile.width === 0) return;
    const sizeOf = (participant: ParticipantId): Size | null => {
      if (participant === full) return { width: screen.width, height: screen.height };
      if (participant === large) return stage;
      return tiles.includes(participant) ? tile : null;
    };
    for (const { participant } of people) session.showCamera(participant, sizeOf(participant));
  }, [session, everyone, tiles.join(), large, full, tile.width, tile.height, stage.width, stage.height]);
}

/** The participant whose tile fills the screen. */
function useFullscreen(): ParticipantId | null {
  const [participant, setParticipant] = useState<ParticipantId | null>(null);
  useEffect(() => {
    const onChange = () => {
      const tile = document.fullscreenElement?.closest<HTMLElement>('[data-testid=tile]');
      setParticipant(tile?.dataset['participant'] ?? null);
    };
    document.addEventListener('fullscreenchange', onChange);
    return () => document.removeEventListener('fullscreenchange', onChange);
  }, []);
  return participant;
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

/** Beside a large tile. */
function Strip({ sharers, ...tiles }: TilesProps & { readonly sharers: readonly Person[] }) {
  return (
    <div class="strip" tabIndex={0} role="group" aria-label="People in the call">
      {sharers.map((person) => (
        <ScreenThumbnail key={`screen-${person.participant}`} session={tiles.session} person={person} />
      ))}
      <Tiles {...tiles} />
    </div>
  );
}

interface TilesProps {
  readonly session: CallSession;
  readonly people: readonly Person[];
  /** Whether the user sees their own picture. */
  readonly self: boolean;
  /** The only other participant is large, and the user's own picture lies over it. */
  readonly two?: boolean;
}

/** One component for both, so that a picture stays the same element, and does not stop, when a third participant joins or leaves. */
function Tiles({ session, people, self, two = false }: TilesProps) {
  return (
    <>
      {people.map((person) => (
        <PersonTile key={person.participant} session={session} person={person} large={two} />
      ))}
      {self && two && <SelfView key="self-view" session={session} />}
      {self && !two && <OwnTile key="self" session={session} hideable={people.length > 0} />}
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
