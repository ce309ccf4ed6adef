/** Selects the visitors that a reader or another pod is given: at random, spread over many networks. SPEC rule PAGE-6. */
import type { VisitorId } from '@parley/protocol/pages';
import type { PagesState, Membership, Swarm, Visitor } from './state.ts';

export interface Candidate {
  readonly visitor: VisitorId;
  readonly whole: boolean;
}

/** Up to `max` different visitors of this pod that have chunks of the page; half of them with the whole page, where there are as many. */
export function draw(
  state: PagesState,
  { wholes, parts }: Swarm,
  max: number,
): { visitor: Visitor; whole: boolean }[] {
  const some = parts.draw(Math.max(Math.floor(max / 2), max - wholes.size), state.random);
  const whole = wholes.draw(max - some.length, state.random);
  return [
    ...whole.map((visitor) => ({ visitor, whole: true })),
    ...some.map((visitor) => ({ visitor, whole: false })),
  ];
}

/** Up to `max` candidates for this visitor that it was not given before and did not exclude; one with the whole page comes first. */
export function choose(
  state: PagesState,
  swarm: Swarm,
  visitor: Visitor,
  membership: Membership,
  max: number,
): Candidate[] {
  const fits = (id: VisitorId): boolean =>
    id !== visitor.id && !membership.exclude.has(id) && membership.given?.has(id) !== true;
  const seen = new Map<string, number>();
  const ranked: (Candidate & { rank: number })[] = [];
  const add = (candidate: Candidate, network: string): void => {
    if (!fits(candidate.visitor)) return;
    // The second candidate of a network ranks behind the first of every other.
    const nth = seen.get(network) ?? 0;
    seen.set(network, nth + 1);
    ranked.push({ ...candidate, rank: nth + state.random() });
  };
  const drawn = draw(state, swarm, 2 * (max + membership.exclude.size + (membership.given?.size ?? 0)));
  for (const { visitor: source, whole } of drawn) add({ visitor: source.id, whole }, source.network);
  for (const [pod, { sample }] of swarm.sections)
    for (const { visitor: source, whole, network } of sample)
      add({ visitor: source, whole }, network === undefined ? source : `${pod} ${network}`);
  ranked.sort((a, b) => a.rank - b.rank);
  const first = ranked.findIndex(({ whole }) => whole);
  if (first > 0) ranked.unshift(...ranked.splice(first, 1));
  return ranked.slice(0, max).map(({ visitor: id, whole }) => ({ visitor: id, whole }));
}
