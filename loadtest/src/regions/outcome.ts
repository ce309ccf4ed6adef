/** What one load over regions gave. */
import type { RegionName } from '@parley/regions/src/site.ts';

/** The fields of the report of `parley-load media` that the bench reads. */
export interface Report {
  /** Unix times of the measured window. */
  readonly beganMs: number;
  readonly endedMs: number;
  readonly expected: number;
  readonly delivered: number;
  readonly missing: number;
  readonly corrupt: number;
  readonly duplicated: number;
  readonly outOfOrder: number;
  readonly extra: number;
  /** Sessions and broadcasts that were lost. */
  readonly closed: number;
  /** By the places of publishers and watchers. */
  readonly paths: readonly Path[];
  /** Of each watcher: the smoothed round-trip time of its QUIC session with its relay, at the end. */
  readonly each: readonly { readonly rttMs: number | null }[];
  readonly generator: { readonly share: number };
}

/** The delays of the frames from one place to another, from making to arrival. */
export interface Path {
  readonly from: string;
  readonly to: string;
  readonly frames: number;
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  readonly meanMs: number;
  /** The mean difference between the delays of two consecutive frames of a broadcast. */
  readonly jitterMs: number;
}

/** Bytes of each region in the window: payload that its relays counted, and packets. */
export type Traffic = Readonly<Record<RegionName, RegionTraffic>>;

export interface RegionTraffic {
  /** From clients. */
  readonly published: number;
  /** To clients. */
  readonly watched: number;
  /** Over links from relays of other regions. */
  readonly arrived: number;
  /** Packets to other regions: media with all headers, acknowledgements, and what NATS and idle links exchange. */
  readonly sent: Readonly<Partial<Record<RegionName, number>>>;
}

export interface Outcome extends Report {
  readonly traffic: Traffic;
  /** What neither the regions nor the generator used, in cores. */
  readonly othersUse: number;
}

/** The frames that a predicate chooses as one path. `undefined`: there are none. */
export function together(
  { paths }: Pick<Report, 'paths'>,
  chosen: (path: Path) => boolean = () => true,
): { readonly meanMs: number; readonly jitterMs: number } | undefined {
  const found = paths.filter(chosen);
  const frames = found.reduce((sum, path) => sum + path.frames, 0);
  if (frames === 0) return undefined;
  const mean = (of: (path: Path) => number): number =>
    found.reduce((sum, path) => sum + path.frames * of(path), 0) / frames;
  return { meanMs: mean(({ meanMs }) => meanMs), jitterMs: mean(({ jitterMs }) => jitterMs) };
}

/** The mean over the sessions; NaN where none is known. */
export function sessionRttMs({ each }: Pick<Report, 'each'>): number {
  const known = each.flatMap(({ rttMs }) => rttMs ?? []);
  return known.reduce((sum, rtt) => sum + rtt, 0) / known.length;
}

/** Share of the expected frames that never arrived. */
export const lossOf = ({ missing, expected }: Report): number => missing / expected;
