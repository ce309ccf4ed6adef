/** The layout of the grid of tiles, without DOM. Sizes in CSS pixels. */

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
 * The least and greatest aspect ratio of a tile. Desktop cameras have wide images, which a tall tile would crop; participants on upright phones
 * usually send tall ones.
 */
const WIDE_STAGE = { min: 1, max: 16 / 9 };
const TALL_STAGE = { min: 3 / 4, max: 4 / 3 };

/** The arrangement with the largest tiles; of equal ones the one with fewer empty places. */
export function gridLayout({ count, width, height, gap }: GridInput): Grid {
  const aspect = width >= height ? WIDE_STAGE : TALL_STAGE;
  let best: Grid = { columns: 1, rows: Math.max(1, count), tileWidth: 0, tileHeight: 0 };
  let bestScore = -1;
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const cellWidth = (width - gap * (columns - 1)) / columns;
    const cellHeight = (height - gap * (rows - 1)) / rows;
    if (cellWidth <= 0 || cellHeight <= 0) continue;
    const tileWidth = Math.floor(Math.min(cellWidth, cellHeight * aspect.max));
    const tileHeight = Math.floor(Math.min(cellHeight, cellWidth / aspect.min));
    const score = tileWidth * tileHeight - (columns * rows - count);
    if (score > bestScore) {
      bestScore = score;
      best = { columns, rows, tileWidth, tileHeight };
    }
  }
  return best;
}

/** Where participants are shown beside a shared screen: at the side of a wide stage, below on a tall one. */
export function stripSide(width: number, height: number): 'side' | 'below' {
  return width >= height * 1.15 ? 'side' : 'below';
}
