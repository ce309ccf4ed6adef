/** What a visitor does with a page: it subscribes, announces all or part of it, and leaves it. SPEC rules PAGE-6, PAGE-7. */
import type { Code } from '@parley/protocol/codes';
import type { PageAddress } from '@parley/protocol/pages';
import type { SocketId } from '../socket-id.ts';
import { tellVisitors } from './heartbeats.ts';
import { count, countFor } from './counts.ts';
import type { PageInput } from './effects.ts';
import { offer, offerSoon } from './offers.ts';
import { saySoon } from './sections.ts';
import type { Desk, Stake, Swarm, Visitor } from './state.ts';
import { lingerIfEmpty, openedBy, openSwarm } from './swarm.ts';

const NOBODY: ReadonlySet<string> = new Set();

export function want(desk: Desk, { socket, page, exclude }: PageInput & { type: 'subscribe' }): void {
  const found = stakeIn(desk, socket, page);
  if (found === undefined) return;
  const { visitor, swarm, stake, isNew } = found;
  if (stake.have === 'whole') have(swarm, visitor, stake, 'none');
  stake.given = new Set();
  stake.exclude = new Set(exclude);
  offer(desk, swarm, visitor, stake);
  if (isNew) countFor(desk, swarm, visitor);
  changed(desk, swarm);
}

export function hold(desk: Desk, { socket, page, whole, bytes }: PageInput & { type: 'announce' }): void {
  if (bytes > desk.limits['page.bytes']) return refuse(desk, socket, page, 'PAGE_TOO_LARGE');
  const found = stakeIn(desk, socket, page);
  if (found === undefined) return;
  const { visitor, swarm, stake, isNew } = found;
  have(swarm, visitor, stake, whole ? 'whole' : 'part');
  if (whole) {
    stake.given = undefined;
    stake.exclude = NOBODY;
  }
  if (isNew) countFor(desk, swarm, visitor);
  changed(desk, swarm);
  offerSoon(desk, swarm);
}

export function drop(desk: Desk, { socket, page }: PageInput & { type: 'leave' }): void {
  const visitor = desk.visitors.get(socket);
  if (visitor !== undefined) end(desk, visitor, page);
}

export function leave(desk: Desk, socket: SocketId): void {
  const visitor = desk.visitors.get(socket);
  if (visitor === undefined) return;
  for (const page of visitor.stakes.keys()) end(desk, visitor, page);
  desk.visitors.delete(socket);
  desk.byId.delete(visitor.id);
  tellVisitors(desk);
}

function end(desk: Desk, visitor: Visitor, page: PageAddress): void {
  const stake = visitor.stakes.get(page);
  const swarm = desk.swarms.get(page);
  if (stake === undefined || swarm === undefined) return;
  have(swarm, visitor, stake, 'none');
  visitor.stakes.delete(page);
  swarm.here.delete(visitor);
  changed(desk, swarm);
  lingerIfEmpty(desk, swarm);
}

function stakeIn(
  desk: Desk,
  socket: SocketId,
  page: PageAddress,
): { visitor: Visitor; swarm: Swarm; stake: Stake; isNew: boolean } | undefined {
  const visitor = desk.visitors.get(socket);
  if (visitor === undefined) return undefined;
  const known = desk.swarms.get(page);
  const stake = visitor.stakes.get(page);
  if (known !== undefined && stake !== undefined) return { visitor, swarm: known, stake, isNew: false };
  if (visitor.stakes.size >= desk.limits['page.perVisitor'])
    return refuse(desk, socket, page, 'TOO_MANY_PAGES');
  if (known === undefined && desk.swarms.size >= desk.limits['pod.pages'])
    return refuse(desk, socket, page, 'POD_FULL');
  const { network } = visitor;
  if (known === undefined && openedBy(desk, network) >= desk.limits['address.openPages'])
    return refuse(desk, socket, page, 'TOO_MANY_PAGE_REQUESTS');
  const swarm = known ?? openSwarm(desk, page, network);
  const fresh: Stake = { have: 'none', given: undefined, exclude: NOBODY };
  visitor.stakes.set(page, fresh);
  swarm.here.set(visitor, fresh);
  lingerIfEmpty(desk, swarm);
  return { visitor, swarm, stake: fresh, isNew: true };
}

function refuse(desk: Desk, socket: SocketId, page: PageAddress, code: Code): undefined {
  desk.effects.push({ type: 'reject', socket, code, page });
  return undefined;
}

function have(swarm: Swarm, visitor: Visitor, stake: Stake, now: Stake['have']): void {
  stake.have = now;
  if (now === 'whole') swarm.wholes.add(visitor);
  else swarm.wholes.remove(visitor);
  if (now === 'part') swarm.parts.add(visitor);
  else swarm.parts.remove(visitor);
}

function changed(desk: Desk, swarm: Swarm): void {
  count(desk, swarm);
  saySoon(desk, swarm);
}
