/** Selects the visitors that a reader or another pod is given: at random, spread over many networks. SPEC rule PAGE-6. */
import type { VisitorId } from '@parley/protocol/pages';
import type { Desk, Stake, Swarm, Visitor } from './state.ts';

export interface Candidate {
  readonly visitor: VisitorId;
  readonly whole: boolean;
}

/** Up to `most` different visitors of this pod that have chunks of the page; half of them with the whole page, where there are as many. */
export function draw(
  desk: Desk,
  { wholes, parts }: Swarm,
  most: number,
): { visitor: Visitor; whole: boolean }[] {
  const some = parts.draw(Math.max(Math.floor(most / 2), most - wholes.size), desk.random);
  const whole = wholes.draw(most - some.length, desk.random);
  return [
    ...whole.map((visitor) => ({ visitor, whole: true })),
    ...some.map((visitor) => ({ visitor, whole: false })),
  ];
}

/** Up to `most` candidates for this visitor that it was not given before and did not exclude; one with the whole page comes first. */
export function choose(desk: Desk, swarm: Swarm, visitor: Visitor, stake: Stake, most: number): Candidate[] {
  const fits = (id: VisitorId): boolean =>
    id !== visitor.id && !stake.exclude.has(id) && stake.given?.has(id) !== true;
  const seen = new Map<string, number>();
  const ranked: (Candidate & { rank: number })[] = [];
  const add = (candidate: Candidate, network: string): void => {
    if (!fits(candidate.visitor)) return;
    // The second candidate of a network ranks behind the first of every other.
    const nth = seen.get(network) ?? 0;
    seen.set(network, nth + 1);
    ranked.push({ ...candidate, rank: nth + desk.random() });
  };
  const drawn = draw(desk, swarm, 2 * (most + stake.exclude.size + (stake.given?.size ?? 0)));
  for (const { visitor: giver, whole } of drawn) add({ visitor: giver.id, whole }, giver.network);
  for (const [pod, { sample }] of swarm.sections)
    for (const { visitor: giver, whole, network } of sample)
      add({ visitor: giver, whole }, network === undefined ? giver : `${pod} ${network}`);
  ranked.sort((a, b) => a.rank - b.rank);
  const first = ranked.findIndex(({ whole }) => whole);
  if (first > 0) ranked.unshift(...ranked.splice(first, 1));
  return ranked.slice(0, most).map(({ visitor: id, whole }) => ({ visitor: id, whole }));
}
