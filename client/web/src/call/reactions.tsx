import type { ParticipantId } from '@parley/protocol/ids';
import { REACTIONS } from '@parley/protocol/people';
import type { Reaction } from '@parley/sdk/call';
import { useRef } from 'preact/hooks';
import { CallIcon } from './call-icon.tsx';
import { emojiName } from './emoji.ts';
import { EmojiGrid } from './emoji-grid.tsx';
import { placeOf } from './hands.tsx';
import type { CallSession } from './session.ts';
import { useCloseOutside } from './use-close-outside.ts';

/** More would cover the picture. */
const MAX_ON_TILE = 3;
/** A screen reader reads no more of a room where all react at once. */
const MAX_READ = 3;

/** Opens the reactions, and on a narrow page the hand with them. */
export function ReactionControl({ session }: { readonly session: CallSession }) {
  const element = useRef<HTMLDivElement>(null);
  const open = session.reacting.value;
  const raised = placeOf(session, session.snapshot.value.me.participant) > 0;
  useCloseOutside(element, open, () => (session.reacting.value = false));
  return (
    <div
      ref={element}
      class="reaction-control"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        session.reacting.value = false;
        element.current?.querySelector<HTMLElement>('.control')?.focus();
      }}
    >
      <button
        type="button"
        class={`control ${open ? 'active' : 'plain'}${raised ? ' raised' : ''}`}
        data-testid="control-react"
        aria-label="Reactions"
        aria-expanded={open}
        aria-keyshortcuts="e"
        title="Reactions (e)"
        onClick={() => (session.reacting.value = !open)}
      >
        <CallIcon name="smile" />
      </button>
      {open && (
        <div class="reaction-menu" data-testid="reaction-menu">
          <EmojiGrid
            emoji={REACTIONS}
            label="Reactions"
            testid="reactions"
            onPick={(emoji) => session.react(emoji)}
          />
          <button
            type="button"
            class="button reaction-hand"
            data-testid="menu-hand"
            onClick={() => session.toggleHand()}
          >
            <CallIcon name="hand" />
            {raised ? 'Lower hand' : 'Raise hand'}
          </button>
        </div>
      )}
    </div>
  );
}

/** Over the picture of those who react. `ReactionLog` is what screen readers read. */
export function TileReactions({
  session,
  participant,
}: {
  readonly session: CallSession;
  readonly participant: ParticipantId | null;
}) {
  const lanes = useRef(new Map<number, number>());
  const own = session.snapshot.value.reactions.filter(({ from }) => from === participant).slice(-MAX_ON_TILE);
  lanes.current = lanesOf(own, lanes.current);
  if (own.length === 0) return null;
  return (
    <div class="tile-reactions" aria-hidden="true">
      {own.map(({ id, emoji }) => (
        <span
          key={id}
          class="reaction"
          data-testid="tile-reaction"
          style={{ '--lane': lanes.current.get(id) }}
        >
          {emoji}
        </span>
      ))}
    </div>
  );
}

/** Each keeps its lane, and a new one takes the first that is free. */
function lanesOf(shown: readonly Reaction[], before: ReadonlyMap<number, number>): Map<number, number> {
  const lanes = new Map(shown.flatMap(({ id }) => (before.has(id) ? [[id, before.get(id) ?? 0]] : [])));
  for (const { id } of shown) {
    const taken = new Set(lanes.values());
    if (!lanes.has(id)) lanes.set(id, [...Array(MAX_ON_TILE).keys()].find((lane) => !taken.has(lane)) ?? 0);
  }
  return lanes;
}

/** Reactions of participants whose tile is on another page, or hidden. */
export function OtherReactions({
  session,
  shown,
}: {
  readonly session: CallSession;
  readonly shown: readonly (ParticipantId | null | undefined)[];
}) {
  const others = session.snapshot.value.reactions.filter(
    ({ from }) => !shown.includes(from) && nameOf(session, from) !== undefined,
  );
  if (others.length === 0) return null;
  return (
    <ul class="other-reactions" aria-hidden="true">
      {others.slice(-MAX_ON_TILE).map(({ id, from, emoji }) => (
        <li key={id} class="other-reaction" data-testid="other-reaction">
          {emoji} <span>{nameOf(session, from)}</span>
        </li>
      ))}
    </ul>
  );
}

/** For screen readers. */
export function ReactionLog({ session }: { readonly session: CallSession }) {
  const reactions = session.snapshot.value.reactions.filter(
    ({ from }) => nameOf(session, from) !== undefined,
  );
  return (
    <div
      class="visually-hidden"
      role="log"
      aria-live="polite"
      aria-label="Reactions"
      data-testid="reaction-log"
    >
      {reactions.slice(-MAX_READ).map(({ id, from, emoji }) => (
        <p key={id}>
          {nameOf(session, from)}: {emojiName(emoji)}
        </p>
      ))}
    </div>
  );
}

/** `undefined`: the participant has left. */
function nameOf({ snapshot }: CallSession, participant: ParticipantId): string | undefined {
  const { me, people } = snapshot.value;
  if (participant === me.participant) return 'You';
  return people.find((person) => person.participant === participant)?.name;
}
