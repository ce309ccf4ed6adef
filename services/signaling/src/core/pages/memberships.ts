/** What a visitor does with a page: it subscribes, announces all or part of it, and leaves it. SPEC rules PAGE-6, PAGE-7. */
import type { Code } from '@parley/protocol/codes';
import type { PageAddress } from '@parley/protocol/pages';
import type { SocketId } from '../socket-id.ts';
import { countVisitors } from './heartbeats.ts';
import { count, countFor } from './counts.ts';
import type { PageInput } from './effects.ts';
import { offer, offerSoon } from './offers.ts';
import { publishSoon } from './sections.ts';
import type { PagesState, Membership, Swarm, Visitor } from './state.ts';
import { lingerIfEmpty, openedBy, openSwarm } from './swarm.ts';

const NONE: ReadonlySet<string> = new Set();

export function subscribe(
  state: PagesState,
  { socket, page, exclude }: PageInput & { type: 'subscribe' },
): void {
  const found = joinSwarm(state, socket, page);
  if (found === undefined) return;
  const { visitor, swarm, membership, isNew } = found;
  if (membership.have === 'whole') have(swarm, visitor, membership, 'none');
  membership.given = new Set();
  membership.exclude = new Set(exclude);
  offer(state, swarm, visitor, membership);
  if (isNew) countFor(state, swarm, visitor);
  changed(state, swarm);
}

export function announce(
  state: PagesState,
  { socket, page, whole, bytes }: PageInput & { type: 'announce' },
): void {
  if (bytes > state.limits['page.bytes']) return refuse(state, socket, page, 'PAGE_TOO_LARGE');
  const found = joinSwarm(state, socket, page);
  if (found === undefined) return;
  const { visitor, swarm, membership, isNew } = found;
  have(swarm, visitor, membership, whole ? 'whole' : 'part');
  if (whole) {
    membership.given = undefined;
    membership.exclude = NONE;
  }
  if (isNew) countFor(state, swarm, visitor);
  changed(state, swarm);
  offerSoon(state, swarm);
}

export function leavePage(state: PagesState, { socket, page }: PageInput & { type: 'leave' }): void {
  const visitor = state.visitors.get(socket);
  if (visitor !== undefined) end(state, visitor, page);
}

export function leave(state: PagesState, socket: SocketId): void {
  const visitor = state.visitors.get(socket);
  if (visitor === undefined) return;
  for (const page of visitor.memberships.keys()) end(state, visitor, page);
  state.visitors.delete(socket);
  state.byId.delete(visitor.id);
  countVisitors(state);
}

function end(state: PagesState, visitor: Visitor, page: PageAddress): void {
  const membership = visitor.memberships.get(page);
  const swarm = state.swarms.get(page);
  if (membership === undefined || swarm === undefined) return;
  have(swarm, visitor, membership, 'none');
  visitor.memberships.delete(page);
  swarm.here.delete(visitor);
  changed(state, swarm);
  lingerIfEmpty(state, swarm);
}

function joinSwarm(
  state: PagesState,
  socket: SocketId,
  page: PageAddress,
): { visitor: Visitor; swarm: Swarm; membership: Membership; isNew: boolean } | undefined {
  const visitor = state.visitors.get(socket);
  if (visitor === undefined) return undefined;
  const known = state.swarms.get(page);
  const membership = visitor.memberships.get(page);
  if (known !== undefined && membership !== undefined)
    return { visitor, swarm: known, membership, isNew: false };
  if (visitor.memberships.size >= state.limits['page.perVisitor'])
    return refuse(state, socket, page, 'TOO_MANY_PAGES');
  if (known === undefined && state.swarms.size >= state.limits['pod.pages'])
    return refuse(state, socket, page, 'POD_FULL');
  const { network } = visitor;
  if (known === undefined && openedBy(state, network) >= state.limits['address.openPages'])
    return refuse(state, socket, page, 'TOO_MANY_PAGE_REQUESTS');
  const swarm = known ?? openSwarm(state, page, network);
  const fresh: Membership = { have: 'none', given: undefined, exclude: NONE };
  visitor.memberships.set(page, fresh);
  swarm.here.set(visitor, fresh);
  lingerIfEmpty(state, swarm);
  return { visitor, swarm, membership: fresh, isNew: true };
}

function refuse(state: PagesState, socket: SocketId, page: PageAddress, code: Code): undefined {
  state.effects.push({ type: 'reject', socket, code, page });
  return undefined;
}

function have(swarm: Swarm, visitor: Visitor, membership: Membership, now: Membership['have']): void {
  membership.have = now;
  if (now === 'whole') swarm.wholes.add(visitor);
  else swarm.wholes.remove(visitor);
  if (now === 'part') swarm.parts.add(visitor);
  else swarm.parts.remove(visitor);
}

function changed(state: PagesState, swarm: Swarm): void {
  count(state, swarm);
  publishSoon(state, swarm);
}
