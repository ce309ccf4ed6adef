/**
 * How much a mesh sends. Everybody encodes and uploads once for each other person, so that four people at full size would cost three times
 * the upload and the processor of two: the picture shrinks as the mesh grows. Figures for VP8 and H.264 at which faces stay clear.
 */

export interface VideoBudget {
  /** Bits per second. */
  readonly maxBitrate: number;
  readonly scaleResolutionDownBy: number;
  readonly maxFramerate: number;
}
export interface Budget {
  readonly camera: VideoBudget;
  readonly screen: VideoBudget;
}

/** For `others` people who are sent to; never less than one. */
export function budgetFor(others: number): Budget {
  return { camera: cameraBudget(others), screen: screenBudget(others) };
}

function cameraBudget(others: number): VideoBudget {
  if (others <= 1) return { maxBitrate: 1_700_000, scaleResolutionDownBy: 1, maxFramerate: 30 };
  if (others === 2) return { maxBitrate: 900_000, scaleResolutionDownBy: 1.5, maxFramerate: 30 };
  if (others === 3) return { maxBitrate: 500_000, scaleResolutionDownBy: 2, maxFramerate: 24 };
  return { maxBitrate: 250_000, scaleResolutionDownBy: 4, maxFramerate: 15 };
}

/** Text must stay sharp: the screen keeps its size and gives up frames. */
function screenBudget(others: number): VideoBudget {
  return {
    maxBitrate: others <= 1 ? 2_500_000 : 1_500_000,
    scaleResolutionDownBy: 1,
    maxFramerate: others <= 2 ? 15 : 8,
  };
}
