/** Load shapes of the herd. Read by k6 and by the runner, so it imports nothing. */
export interface HerdProfile {
  readonly calls: number;
  /** Participants of one call, each a VU. */
  readonly callSize: number;
  readonly callsPerSecond: number;
  /** The members of one call do not arrive in the same instant. */
  readonly staggerMs: number;
  /** Shortest and longest stay; then one goes, and comes back into the same room after the gap. */
  readonly stayMs: readonly [number, number];
  readonly gapMs: number;
  /** How long everyone keeps coming back once all calls have begun: the measured part. */
  readonly steadyMs: number;
  /** Share of the arrivals that the edge sends to any pod instead of the room's, as after a resume or a change of pods. */
  readonly scatter: number;
}

// The semi-thundering herd of p2pconf.
const P2PCONF = {
  callSize: 4,
  callsPerSecond: 6,
  staggerMs: 1000,
  stayMs: [10_000, 30_000],
  gapMs: 500,
} as const;

export const HERD_PROFILES = {
  // For CI: correctness before figures, so half of the people are on the other pod and the bus has work.
  smoke: { ...P2PCONF, calls: 50, steadyMs: 20_000, scatter: 0.5 },
  // As large as p2pconf's own figure, and as its people arrive: by room, which keeps a call on one pod.
  seed: { ...P2PCONF, calls: 300, steadyMs: 60_000, scatter: 0 },
} as const satisfies Record<string, HerdProfile>;

/** The profile of that name; throws a sentence that lists them. */
export function herdProfile(name: string): HerdProfile {
  const profiles: Record<string, HerdProfile> = HERD_PROFILES;
  const profile = profiles[name];
  if (profile === undefined) {
    throw new Error(`there is no herd profile "${name}": take one of ${Object.keys(profiles).join(', ')}`);
  }
  return profile;
}
