/** Whether a run is a result, and which promises it broke. */
import { roundTripMs } from '@parley/regions/src/links.ts';
import { isRegion, type RegionName } from '@parley/regions/src/site.ts';
import { digits } from '../columns.ts';
import { verdictOf, wrongCounts, type Verdict } from '../verdict.ts';
import { lossOf, type Outcome, type Path } from './outcome.ts';
import type { Scenario } from './scenarios.ts';
import type { Topic } from './topic.ts';

const WRONGS = ['corrupt', 'duplicated', 'outOfOrder', 'extra', 'closed'] as const;
/** MoQ skips late frames; with more of them missing a run is no result. */
const MAX_LOSS = 0.01;

/** Of what is published, over the links from one region to another, whatever the number of watchers. */
export const MOST_COPIES = 1.1;
/** In addition to the network's round trip, within a region, at the 95th percentile. */
export const ADDED_MS = 5;
/** Of people of one region. */
export const MOST_JITTER_MS = 10;

export function judge(outcome: Outcome): Verdict {
  const wrong = wrongCounts(WRONGS, outcome);
  if (outcome.expected === 0) wrong.push('nothing was sent');
  else if (lossOf(outcome) > MAX_LOSS)
    wrong.push(`${(100 * lossOf(outcome)).toFixed(1)} % of the frames are missing`);
  return verdictOf(wrong, outcome.generator.share);
}

/** Bytes over the links between the regions, per byte that was published. */
export function copiesOf({ traffic }: Outcome, [from, to]: readonly [RegionName, RegionName]): number {
  return traffic[to].arrived / traffic[from].published;
}

/** The same where watchers of another region use the relay of the publishers: all that they receive crosses. */
export function pinnedCopies({ traffic }: Outcome, [from]: readonly [RegionName, RegionName]): number {
  return traffic[from].watched / traffic[from].published;
}

/** Bytes of all packets from the one region to the other, per byte that was published. */
export function wireCopiesOf({ traffic }: Outcome, [from, to]: readonly [RegionName, RegionName]): number {
  return (traffic[from].sent[to] ?? Number.NaN) / traffic[from].published;
}

/** The network's, one way. */
export const networkMs = ({ from, to }: Path): number =>
  isRegion(from) && isRegion(to) ? roundTripMs(from, to) / 2 : Number.NaN;

/** The promises that a run without a control broke. */
export function broken({ name, ocean }: Pick<Scenario, 'name' | 'ocean'>, outcome: Outcome): string[] {
  const found: string[] = [];
  if (ocean !== undefined) {
    const copies = copiesOf(outcome, ocean);
    if (!(copies <= MOST_COPIES)) found.push(`${name}: ${digits(copies)} copies from ${ocean.join(' to ')}`);
    return found;
  }
  const within = outcome.paths.filter(({ from, to }) => from === to);
  if (within.length === 0) found.push(`${name}: no frames within a region`);
  for (const path of within) {
    const mostMs = 2 * networkMs(path) + ADDED_MS;
    const { from, jitterMs, latencyMs } = path;
    if (!(latencyMs.p95 <= mostMs)) found.push(`${name}: p95 within ${from} ${digits(latencyMs.p95)} ms`);
    if (!(jitterMs < MOST_JITTER_MS)) found.push(`${name}: jitter within ${from} ${digits(jitterMs)} ms`);
  }
  return found;
}

export function brokenByTopic({ readers }: Topic): string[] {
  return readers.flatMap(({ region, copies, extra }) => [
    ...(copies !== undefined && !(copies <= MOST_COPIES)
      ? [`topic: ${digits(copies)} copies to ${region}`]
      : []),
    ...(extra > 0 ? [`topic: ${extra} deliveries too many in ${region}`] : []),
  ]);
}
