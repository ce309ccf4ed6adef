/** A report of `parley-load media` as a picture: how late all were, and the latest watchers. */
import { digits } from '../columns.ts';
import { plot, type Bar, type Panel } from '../plot.ts';

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** What the picture needs of the JSON. */
export interface Report {
  readonly expected: number;
  readonly delivered: number;
  readonly skippedGroups: number;
  readonly freezes: number;
  readonly steady: { readonly seconds: number; readonly megabitsPerSecond: number };
  readonly latencyMs: Quantiles;
  readonly firstFrameMs: Quantiles | null;
  readonly rttMs: Quantiles | null;
  readonly jitterMs: Quantiles;
  readonly each: readonly Watcher[];
}

interface Watcher {
  readonly relay: string;
  readonly missing: number;
  readonly freezes: number;
  readonly latencyMs: Quantiles;
}

/** As many watchers as one looks at. */
const SHOWN = 20;

/** SVG. A bar ends at the median; the line over it, at the 99th percentile. */
export function picture(report: Report): string {
  const { steady, delivered, expected, skippedGroups, freezes } = report;
  const rate = `${digits(steady.megabitsPerSecond)} Mbit/s over ${digits(steady.seconds)} s`;
  const foot = `${rate}; ${delivered} of ${expected} frames, ${skippedGroups} groups skipped, ${freezes} freezes`;
  return plot([all(report), latest(report)], { label: 'Delay of media, by watcher', foot });
}

function all({ latencyMs, firstFrameMs, rttMs, jitterMs }: Report): Panel {
  const rows = { Delay: latencyMs, 'First frame': firstFrameMs, 'Round trip': rttMs, Jitter: jitterMs };
  const bars = Object.entries(rows).flatMap(([label, value]) =>
    value === null ? [] : [bar(label, value, '')],
  );
  return {
    title: 'All watchers, ms',
    note: 'median, and 99th percentile; delay is of frames, the rest of watchers',
    bars,
  };
}

function latest({ each }: Report): Panel {
  const sorted = each
    .map((watcher, at) => ({ ...watcher, at }))
    .toSorted((one, other) => other.latencyMs.p99 - one.latencyMs.p99);
  const bars = sorted
    .slice(0, SHOWN)
    .map(({ at, relay, missing, freezes, latencyMs }) =>
      bar(`${at} at ${new URL(relay).host}`, latencyMs, wrongs({ missing, freezes })),
    );
  return { title: 'Delay by watcher, ms', note: `the latest ${bars.length} of ${each.length}`, bars };
}

function bar(label: string, { p50, p99 }: Quantiles, more: string): Bar {
  const text = `${digits(p50)}, ${digits(p99)}${more}`;
  return { label, value: { median: p50, min: p50, max: p99 }, own: p50, text, isOurs: more === '' };
}

const wrongs = ({ missing, freezes }: { missing: number; freezes: number }): string =>
  missing + freezes === 0 ? '' : `  (${missing} missing, ${freezes} freezes)`;
