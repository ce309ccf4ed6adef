/** An operator makes this region answer for the rooms of a home that is lost, or for its own again. SPEC rules HOME-12, HOME-15 and HOME-16. */
import type { HomeAnswer, HomeRequest, HomeTerm } from '@parley/protocol/home';
import type { RegionId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { FollowedStore, HomeBus, RoomStore, SeatHolder } from '../core/ports.ts';
import { followersOf, listAll } from './followers.ts';
import type { Terms } from './terms.ts';

export interface PromotionParts {
  readonly region: RegionId;
  readonly holder: SeatHolder;
  readonly bus: Pick<HomeBus, 'ask'>;
  readonly limits: Pick<Limits, 'home.timeout'>;
  readonly terms: Pick<Terms, 'actingFor' | 'promote'>;
  readonly followed: Pick<FollowedStore, 'list'>;
  /** Of the rooms of this region. */
  readonly store: Pick<RoomStore, 'list'>;
  /** All regions of the installation, as the operator lists them (REG-7). What a pod hears is not enough: it forgets regions that are lost. */
  readonly configured: readonly RegionId[];
  readonly reaches: (region: RegionId) => boolean;
}

/**
 * `UNKNOWN_REGION`: the operator's list of regions, `regions`, has no such home. `NOT_FOLLOWER`: only `regions` follow its records.
 * `ALREADY_HOME`: nothing to do. `HOME_REACHABLE`: `regions` reach the one that answers for the rooms. `NOT_FOLLOWED`: this home has not handed over or followed
 * everything yet. `PROMOTED_ELSEWHERE`: `regions` was promoted at the same time.
 * `REGION_SILENT`: `regions` did not answer, so they may reach it; the operator has to name them. `STORE_UNAVAILABLE`: as elsewhere.
 */
export type Promotion =
  | { readonly ok: true; readonly term: number }
  | {
      readonly ok: false;
      readonly refused:
        | 'UNKNOWN_REGION'
        | 'NOT_FOLLOWER'
        | 'ALREADY_HOME'
        | 'HOME_REACHABLE'
        | 'NOT_FOLLOWED'
        | 'PROMOTED_ELSEWHERE'
        | 'REGION_SILENT'
        | 'STORE_UNAVAILABLE';
      readonly regions?: readonly RegionId[];
    };

/** `without`: regions that the operator knows not to use the home. */
export async function promote(
  parts: PromotionParts,
  home: RegionId,
  without: readonly RegionId[],
): Promise<Promotion> {
  const { region, terms, configured } = parts;
  if (!configured.includes(home)) return { ok: false, refused: 'UNKNOWN_REGION', regions: configured };
  const acting = terms.actingFor(home);
  if (acting === region) return { ok: false, refused: 'ALREADY_HOME' };
  const followers = followersOf(home, configured, acting);
  if (!followers.includes(region)) return { ok: false, refused: 'NOT_FOLLOWER', regions: followers };
  const refused = await mayNotReplace(parts, { home, acting }, without);
  if (refused !== undefined) return refused;
  const term = await terms.promote(home, (proposed) => agreed(parts, proposed));
  if (term === undefined) return { ok: false, refused: 'STORE_UNAVAILABLE' };
  if (term.by !== region) return { ok: false, refused: 'PROMOTED_ELSEWHERE', regions: [term.by] };
  return { ok: true, term: term.term };
}

interface Replaced {
  readonly home: RegionId;
  readonly acting: RegionId;
}

/** A home takes its rooms back from a region that it reaches. Otherwise the one that answers for the rooms has to be lost. */
async function mayNotReplace(
  parts: PromotionParts,
  { home, acting }: Replaced,
  without: readonly RegionId[],
): Promise<Promotion | undefined> {
  const { region, holder, bus, limits, configured, reaches } = parts;
  const ask = (other: RegionId): Promise<HomeAnswer | undefined> => {
    const request: HomeRequest = { type: 'reach', ...holder, region: acting };
    return bus.ask(other, request, limits['home.timeout']);
  };
  const asked = [...new Set([acting, home, ...configured])].filter((other) => other !== region);
  const answers = await Promise.all(asked.map(ask));
  const answerOf = (other: RegionId): HomeAnswer | undefined => answers[asked.indexOf(other)];
  const reaching = asked.filter((other) => {
    const answer = answerOf(other);
    return other === acting ? answer !== undefined : answer?.type === 'reached' && answer.reaches;
  });
  const isReached = reaches(acting) || reaching.includes(acting);
  if (isReached && home === region) return hasNotFollowed(parts, { home, acting });
  if (isReached) return { ok: false, refused: 'HOME_REACHABLE', regions: [region] };
  if (reaching.length > 0) return { ok: false, refused: 'HOME_REACHABLE', regions: reaching };
  const silent = asked.filter(
    (other) => other !== acting && answerOf(other)?.type !== 'reached' && !without.includes(other),
  );
  return silent.length > 0 ? { ok: false, refused: 'REGION_SILENT', regions: silent } : undefined;
}

/** Whether this home has not handed over all that it wrote, or not followed all that the region has that answers for its rooms. SPEC rule HOME-15. */
async function hasNotFollowed(
  { holder, bus, followed, store }: PromotionParts,
  { home, acting }: Replaced,
): Promise<Promotion | undefined> {
  const request = { type: 'compare' as const, ...holder, home, versions: true };
  const [theirs, ours, written, own] = await Promise.all([
    listAll(bus, acting, request),
    followed.list(home, 'versions'),
    followed.list(home, 'written'),
    store.list(),
  ]);
  if (theirs === undefined) return { ok: false, refused: 'REGION_SILENT', regions: [acting] };
  if (!ours.ok || !written.ok || !own.ok) return { ok: false, refused: 'STORE_UNAVAILABLE' };
  const isBehind = [...theirs].some(([name, revision]) => (ours.revisions.get(name) ?? -1) < revision);
  const isHandedOver = written.revisions.size === 0 && own.revisions.size === 0;
  return isBehind || !isHandedOver ? { ok: false, refused: 'NOT_FOLLOWED', regions: [acting] } : undefined;
}

/** The terms that the other regions have after they were asked to store this one. Those that do not answer are cut off, or lost. */
async function agreed(
  { region, holder, bus, limits, configured }: PromotionParts,
  term: HomeTerm,
): Promise<readonly HomeTerm[]> {
  const others = configured.filter((other) => other !== region);
  const request: HomeRequest = { type: 'promote', ...holder, term };
  const answers = await Promise.all(others.map((other) => bus.ask(other, request, limits['home.timeout'])));
  return answers.flatMap((answer) => (answer?.type === 'promoted' ? [answer.term] : []));
}
