/** Selects the visitors that a reader or another pod is given: near ones first, at random, spread over many networks. SPEC rule PAGE-6. */
import { regionIn } from '@parley/protocol/ids';
import type { VisitorId } from '@parley/protocol/pages';
import type { PagesState, Membership, Swarm, Visitor } from './state.ts';

/** A holder of another region ranks as the third of a network here. */
const FAR = 2;

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

/**
 * Up to `max` candidates for this visitor that it was not given before and did not exclude; one with the whole page comes first. Where there is one of another
 * region it is among them: networks of this region, of which one visitor may have several, hide it from no reader.
 */
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
  const ranked: (Candidate & { readonly rank: number; readonly isFar: boolean })[] = [];
  const add = (candidate: Candidate, network: string, isFar = false): void => {
    if (!fits(candidate.visitor)) return;
    // The second candidate of a network ranks behind the first of every other.
    const nth = seen.get(network) ?? 0;
    seen.set(network, nth + 1);
    ranked.push({ ...candidate, isFar, rank: nth + (isFar ? FAR : 0) + state.random() });
  };
  const drawn = draw(state, swarm, 2 * (max + membership.exclude.size + (membership.given?.size ?? 0)));
  for (const { visitor: source, whole } of drawn) add({ visitor: source.id, whole }, source.network);
  const own = regionIn(state.pod);
  for (const [pod, { sample }] of swarm.sections) {
    const isFar = regionIn(pod) !== own;
    for (const { visitor: source, whole, network } of sample)
      add({ visitor: source, whole }, network === undefined ? source : `${pod} ${network}`, isFar);
  }
  ranked.sort((a, b) => a.rank - b.rank);
  const first = ranked.findIndex(({ whole }) => whole);
  if (first > 0) ranked.unshift(...ranked.splice(first, 1));
  const chosen = ranked.slice(0, max);
  const far = ranked.find(({ isFar }) => isFar);
  if (far !== undefined && max > 1 && !chosen.includes(far)) chosen.splice(-1, 1, far);
  return chosen.map(({ visitor: id, whole }) => ({ visitor: id, whole }));
}
