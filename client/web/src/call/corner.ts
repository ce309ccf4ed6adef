/** The corner of the stage in which the self view lies in a call of two. Without DOM. */

/** In the order in which the button moves it. */
export const CORNERS = ['bottom-right', 'bottom-left', 'top-left', 'top-right'] as const;
export type Corner = (typeof CORNERS)[number];

export const isCorner = (value: string | null): value is Corner => CORNERS.some((corner) => corner === value);

export function nextCorner(corner: Corner): Corner {
  return CORNERS[(CORNERS.indexOf(corner) + 1) % CORNERS.length] ?? corner;
}

/** The corner that is nearest to a point, whose coordinates are shares of the stage, 0 to 1. */
export function nearestCorner(x: number, y: number): Corner {
  return `${y < 0.5 ? 'top' : 'bottom'}-${x < 0.5 ? 'left' : 'right'}`;
}
