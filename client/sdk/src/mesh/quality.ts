/** Rates the quality of the media with one participant, from two readings of `getStats()`. Pure. */
import type { LinkQuality } from '../call.ts';

export interface Reading {
  readonly path: 'direct' | 'turn';
  readonly roundTripMs: number | null;
  /** Packets since the start, from which the loss between two readings follows. */
  readonly received: number;
  readonly lost: number;
  /** The share of our packets that the other side lost recently, 0 to 1. */
  readonly farLoss: number;
}

export interface Verdict {
  readonly path: 'direct' | 'turn';
  readonly quality: LinkQuality;
  readonly roundTripMs: number | null;
  readonly lossPercent: number | null;
}

/**
 * ITU-T G.114: up to 150 ms one way is unnoticed, above 400 ms a conversation breaks down. Loss: the share at which concealment becomes noticeable.
 */
const GOOD = { roundTripMs: 300, lossPercent: 2 };
const FAIR = { roundTripMs: 800, lossPercent: 8 };
/** Fewer packets than this give no rate of loss: one lost of ten is not ten percent. */
const PACKETS_MIN = 20;

type Entry = Readonly<Record<string, unknown>>;

/** `undefined` while no candidate pair is selected. */
export function read(report: Iterable<readonly [string, unknown]>): Reading | undefined {
  const entries = new Map<string, Entry>();
  for (const [id, entry] of report)
    if (typeof entry === 'object' && entry !== null) entries.set(id, entry as Entry);
  const pair = selectedPair(entries);
  if (pair === undefined) return undefined;
  let received = 0;
  let lost = 0;
  let farLoss = 0;
  for (const entry of entries.values()) {
    if (entry['type'] === 'inbound-rtp') {
      received += number(entry['packetsReceived']);
      lost += Math.max(0, number(entry['packetsLost']));
    }
    if (entry['type'] === 'remote-inbound-rtp') farLoss = Math.max(farLoss, number(entry['fractionLost']));
  }
  const roundTrip = pair['currentRoundTripTime'];
  const relayed = [pair['localCandidateId'], pair['remoteCandidateId']].some(
    (id) => typeof id === 'string' && entries.get(id)?.['candidateType'] === 'relay',
  );
  return {
    path: relayed ? 'turn' : 'direct',
    roundTripMs: typeof roundTrip === 'number' ? Math.round(roundTrip * 1000) : null,
    received,
    lost,
    farLoss: Math.min(1, farLoss),
  };
}

export function judge(now: Reading, before: Reading | undefined): Verdict {
  const { path, roundTripMs } = now;
  const lossPercent = before === undefined ? null : lossBetween(before, now);
  const within = (bound: typeof GOOD): boolean =>
    (roundTripMs ?? 0) <= bound.roundTripMs && (lossPercent ?? 0) <= bound.lossPercent;
  const known = roundTripMs !== null || lossPercent !== null;
  const quality = known ? (within(GOOD) ? 'good' : within(FAIR) ? 'fair' : 'poor') : 'unknown';
  return { path, quality, roundTripMs, lossPercent };
}

function lossBetween(before: Reading, now: Reading): number | null {
  const received = now.received - before.received;
  const lost = Math.max(0, now.lost - before.lost);
  const all = received + lost;
  const near = all < PACKETS_MIN ? null : lost / all;
  if (near === null && now.farLoss === 0) return null;
  return Math.round(1000 * Math.max(near ?? 0, now.farLoss)) / 10;
}

/** Chromium names the pair in the transport, Firefox marks the pair itself. */
function selectedPair(entries: ReadonlyMap<string, Entry>): Entry | undefined {
  let marked: Entry | undefined;
  for (const entry of entries.values()) {
    if (entry['type'] === 'transport' && typeof entry['selectedCandidatePairId'] === 'string') {
      const named = entries.get(entry['selectedCandidatePairId']);
      if (named !== undefined) return named;
    }
    if (entry['type'] !== 'candidate-pair' || entry['state'] !== 'succeeded') continue;
    if (entry['selected'] === true || (entry['nominated'] === true && marked === undefined)) marked = entry;
  }
  return marked;
}

const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
