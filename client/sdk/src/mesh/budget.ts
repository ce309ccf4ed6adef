/**
 * The bit rates of a mesh. Each participant encodes and uploads once for every other one: four participants at full size would need three times the
 * upload and CPU of two, so the resolution falls as the mesh grows. The values keep faces clear in VP8 and H.264.
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

/** `others`: the number of other participants; values below one count as one. */
export function budgetFor(others: number): Budget {
  return { camera: cameraBudget(others), screen: screenBudget(others) };
}

function cameraBudget(others: number): VideoBudget {
  if (others <= 1) return { maxBitrate: 1_700_000, scaleResolutionDownBy: 1, maxFramerate: 30 };
  if (others === 2) return { maxBitrate: 900_000, scaleResolutionDownBy: 1.5, maxFramerate: 30 };
  if (others === 3) return { maxBitrate: 500_000, scaleResolutionDownBy: 2, maxFramerate: 24 };
  return { maxBitrate: 250_000, scaleResolutionDownBy: 4, maxFramerate: 15 };
}

/** Text must stay sharp: a screen keeps its resolution and its frame rate falls. */
function screenBudget(others: number): VideoBudget {
  return {
    maxBitrate: others <= 1 ? 2_500_000 : 1_500_000,
    scaleResolutionDownBy: 1,
    maxFramerate: others <= 2 ? 15 : 8,
  };
}
