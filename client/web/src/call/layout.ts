/** Where tiles go: the arithmetic of the grid, without a document. Sizes in CSS pixels. */

export interface GridInput {
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly gap: number;
}
export interface Grid {
  readonly columns: number;
  readonly rows: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
}

/**
 * Width by height of a tile, at least and at most. People at a desk have wide pictures, and a tall tile would cut off what they show; on
 * a phone held upright others usually hold theirs so too.
 */
const WIDE_STAGE = { least: 1, most: 16 / 9 };
const TALL_STAGE = { least: 3 / 4, most: 4 / 3 };

/** The arrangement in which tiles are largest; of equal ones the one with fewer empty places. */
export function gridLayout({ count, width, height, gap }: GridInput): Grid {
  const aspect = width >= height ? WIDE_STAGE : TALL_STAGE;
  let best: Grid = { columns: 1, rows: Math.max(1, count), tileWidth: 0, tileHeight: 0 };
  let bestScore = -1;
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const cellWidth = (width - gap * (columns - 1)) / columns;
    const cellHeight = (height - gap * (rows - 1)) / rows;
    if (cellWidth <= 0 || cellHeight <= 0) continue;
    const tileWidth = Math.floor(Math.min(cellWidth, cellHeight * aspect.most));
    const tileHeight = Math.floor(Math.min(cellHeight, cellWidth / aspect.least));
    const score = tileWidth * tileHeight - (columns * rows - count);
    if (score > bestScore) {
      bestScore = score;
      best = { columns, rows, tileWidth, tileHeight };
    }
  }
  return best;
}

/** Beside a shared screen: people go along the side of a wide stage, below on a tall one. */
export function stripSide(width: number, height: number): 'side' | 'below' {
  return width >= height * 1.15 ? 'side' : 'below';
}
