/** Computes rates from counters that only grow: from `getStats()` for connections, from our own counts for relays. Pure. */
import type { Role } from '../media.ts';

/** The counters of one track since it began. */
export interface Count {
  readonly source: Role;
  /** The name in WebRTC and WebCodecs; `null` before it is known. */
  readonly codec: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly bytes: number;
  /** Video frames; `null` for audio. */
  readonly frames: number | null;
  readonly packets: number;
  /** Packets that were lost or came too late. */
  readonly lost: number;
  /** The total time that received media waited in the jitter buffer, and the number of samples; zero for sent media. */
  readonly waitedMs: number;
  readonly waits: number;
  /** How often the picture stood still; `null`: unknown. */
  readonly freezes: number | null;
}

/** The current figures of one track; `null`: unknown. */
export interface TrackFigures {
  readonly source: Role;
  /** The name in WebRTC and WebCodecs. */
  readonly codec: string | null;
  /** Of the picture, in pixels. */
  readonly width: number | null;
  readonly height: number | null;
  readonly framesPerSecond: number | null;
  /** 0 at the first reading of a track. */
  readonly kilobitsPerSecond: number;
  /** Packets that were lost or came too late, 0 to 100. */
  readonly lossPercent: number | null;
  /** The delay of the jitter buffer in ms. */
  readonly bufferMs: number | null;
  /** How often the picture stood still since the previous call. */
  readonly freezes: number | null;
}

export interface Counts {
  readonly received: readonly Count[];
  readonly sent: readonly Count[];
}

/** Compares the counters of each track with the previous ones. */
export class Rates {
  #before = new Map<string, { readonly at: number; readonly count: Count }>();
  #now = new Map<string, { readonly at: number; readonly count: Count }>();

  /** `key` identifies the track as long as its counters continue. */
  of(key: string, count: Count, nowMs: number): TrackFigures {
    const known = this.#before.get(key);
    // The counters of a new connection start at zero.
    const before = known !== undefined && continues(known.count, count) ? known : undefined;
    this.#now.set(key, { at: nowMs, count });
    const seconds = before === undefined ? 0 : (nowMs - before.at) / 1000;
    const since = (of: (count: Count) => number): number =>
      before === undefined ? of(count) : of(count) - of(before.count);
    const perSecond = (of: (count: Count) => number): number => (seconds > 0 ? since(of) / seconds : 0);
    const lost = Math.max(
      0,
      since((one) => one.lost),
    );
    const all = lost + since((one) => one.packets);
    const waits = since((one) => one.waits);
    return {
      source: count.source,
      codec: count.codec,
      width: count.width,
      height: count.height,
      framesPerSecond: count.frames === null ? null : tenths(perSecond((one) => one.frames ?? 0)),
      kilobitsPerSecond: Math.round(perSecond((one) => one.bytes) * 0.008),
      lossPercent: all <= 0 ? null : tenths((100 * lost) / all),
      bufferMs: waits <= 0 ? null : Math.round(since((one) => one.waitedMs) / waits),
      freezes: count.freezes === null ? null : since((one) => one.freezes ?? 0),
    };
  }

  /** Forgets the tracks that were not read since the previous call. */
  settle(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }
}

/** Whether all counters go on: over a minute a new connection can receive more bytes than the one before it had. */
function continues(before: Count, now: Count): boolean {
  const grown = (of: (count: Count) => number | null): boolean => (of(before) ?? 0) <= (of(now) ?? 0);
  return [
    grown(({ bytes }) => bytes),
    grown(({ packets }) => packets),
    grown(({ waits }) => waits),
    grown(({ waitedMs }) => waitedMs),
    grown(({ freezes }) => freezes),
  ].every(Boolean);
}

const tenths = (value: number): number => Math.round(10 * value) / 10;

type Entry = Readonly<Record<string, unknown>>;

/** The counters of a connection, from `getStats()`. The `mid` identifies the role of a media section. */
export function countsOf(
  report: Iterable<readonly [string, unknown]>,
  roles: { readonly received: ReadonlyMap<string, Role>; readonly sent: ReadonlyMap<string, Role> },
): Counts {
  const entries = new Map<string, Entry>();
  for (const [id, entry] of report)
    if (typeof entry === 'object' && entry !== null) entries.set(id, entry as Entry);
  const all = (type: string, of: ReadonlyMap<string, Role>): Count[] =>
    [...entries.values()].flatMap((entry) => {
      const source = of.get(text(entry['mid']) ?? '');
      return entry['type'] === type && source !== undefined ? countOf(entry, source, entries) : [];
    });
  return { received: all('inbound-rtp', roles.received), sent: all('outbound-rtp', roles.sent) };
}

function countOf(entry: Entry, source: Role, entries: ReadonlyMap<string, Entry>): Count {
  const codec = entries.get(text(entry['codecId']) ?? '');
  const far = entries.get(text(entry['remoteId']) ?? '');
  const inbound = entry['type'] === 'inbound-rtp';
  const picture = entry['kind'] === 'video';
  return {
    source,
    codec: text(codec?.['mimeType'])?.replace(/^\w+\//, '') ?? null,
    width: known(entry['frameWidth']),
    height: known(entry['frameHeight']),
    bytes: number(entry[inbound ? 'bytesReceived' : 'bytesSent']),
    frames: picture ? number(entry[inbound ? 'framesDecoded' : 'framesEncoded']) : null,
    packets: number(entry[inbound ? 'packetsReceived' : 'packetsSent']),
    lost: Math.max(0, number(inbound ? entry['packetsLost'] : far?.['packetsLost'])),
    waitedMs: 1000 * number(entry['jitterBufferDelay']),
    waits: number(entry['jitterBufferEmittedCount']),
    freezes: known(entry['freezeCount']),
  };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const known = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
const number = (value: unknown): number => known(value) ?? 0;
