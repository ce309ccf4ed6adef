/** Decides which participants are shown, where, and which are on other pages. Without DOM. */
import type { ParticipantId } from '@parley/protocol/ids';
import { gridLayout } from './layout.ts';

/** `speaker`: the active speaker is large, with the others beside it. */
export type View = 'grid' | 'speaker';

/** The most cameras that are fetched through relays, plus our own. */
export const MAX_TILES = 16;
/** A face is still recognizable on a tile of this size, in CSS pixels. */
const MIN_TILE = { width: 120, height: 84 };

export interface StageInput {
  /** The other participants, in the order of the stage. */
  readonly people: readonly ParticipantId[];
  readonly view: View;
  /** A shared screen is large, and a pinned or speaking participant is first beside it. */
  readonly sharing: boolean;
  readonly pinned: ParticipantId | null;
  readonly speaker: ParticipantId | null;
  /** From 0; limited to the last page. */
  readonly page: number;
  /** How many others fit beside our own tile: in the grid, and beside a large participant. */
  readonly max: { readonly grid: number; readonly beside: number };
}

export interface StagePlan {
  readonly large: ParticipantId | null;
  readonly tiles: readonly ParticipantId[];
  readonly page: number;
  readonly pages: number;
}

export function planStage({ people, view, sharing, pinned, speaker, page, max }: StageInput): StagePlan {
  const here = (one: ParticipantId | null): ParticipantId | null =>
    one !== null && people.includes(one) ? one : null;
  // Of two participants the other one is large in every view.
  const speakerLarge = view === 'speaker' || people.length === 1;
  const first = here(pinned) ?? (speakerLarge ? (here(speaker) ?? people[0] ?? null) : null);
  const large = sharing ? null : first;
  const beside = people.filter((one) => one !== large);
  const ordered = sharing && first !== null ? [first, ...beside.filter((one) => one !== first)] : beside;
  const perPage = Math.max(1, sharing || large !== null ? max.beside : max.grid);
  const pages = Math.max(1, Math.ceil(ordered.length / perPage));
  const shown = Math.min(Math.max(0, page), pages - 1);
  return { large, tiles: ordered.slice(shown * perPage, (shown + 1) * perPage), page: shown, pages };
}

/** How many tiles with recognizable faces fit on a stage, at least four and at most `MAX_TILES`. */
export function maxTiles(size: {
  readonly width: number;
  readonly height: number;
  readonly gap: number;
}): number {
  for (let count = MAX_TILES; count > 4; count--) {
    const { tileWidth, tileHeight } = gridLayout({ ...size, count });
    if (tileWidth >= MIN_TILE.width && tileHeight >= MIN_TILE.height) return count;
  }
  return 4;
}

/**
 * The order of the stage after a participant joined, left or spoke. Tiles move only if necessary: a speaker on another page takes the place of the
 * participant on the first page who was silent for longest.
 */
export function stageOrder(
  before: readonly ParticipantId[],
  people: readonly ParticipantId[],
  {
    speaker,
    spokeAt,
    perPage,
  }: {
    readonly speaker: ParticipantId | null;
    readonly spokeAt: ReadonlyMap<ParticipantId, number>;
    readonly perPage: number;
  },
): readonly ParticipantId[] {
  const order = [
    ...before.filter((one) => people.includes(one)),
    ...people.filter((one) => !before.includes(one)),
  ];
  const from = speaker === null ? -1 : order.indexOf(speaker);
  if (speaker === null || from < perPage) return order;
  const silence = (one: ParticipantId): number => spokeAt.get(one) ?? Number.NEGATIVE_INFINITY;
  const to = order
    .slice(0, Math.max(1, perPage))
    .reduce((quietest, one, at) => (silence(one) < silence(order[quietest] ?? one) ? at : quietest), 0);
  const [given] = order.splice(to, 1, speaker);
  if (given !== undefined) order[from] = given;
  return order;
}
