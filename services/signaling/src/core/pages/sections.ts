/** Sections: what pods publish about a page: its numbers, and a sample of the visitors that have chunks. SPEC rule PAGE-10. */
import type { PodId } from '@parley/protocol/ids';
import type { PageSection } from '@parley/protocol/pages-bus';
import type { PageAddress } from '@parley/protocol/pages';
import { draw } from './choose.ts';
import { count, forgetOlder, unsettle } from './counts.ts';
import { offerSoon } from './offers.ts';
import { hearPeer } from './peers.ts';
import { readersHere, type Desk, type Peer, type Swarm } from './state.ts';

const TELL_MS = 250;
/**
 * A section is repeated after this, should a message be lost. With 250 ms before it and `page.countInterval` after it, numbers are right within 2 s.
 */
const REPEAT_MS = 750;
/** Visitors in a sample leave and others come: a section is never much older than this. */
const REFRESH_MS = 15_000;
const JITTER = 0.2;
/** Two refreshes and a margin: a section that was not repeated in this time has ended, and its end was lost. */
const OLD_MS = 40_000;
const NAMED = 32;

/** Something changed: the other pods are notified once of all changes of this moment. */
export function saySoon(desk: Desk, swarm: Swarm): void {
  swarm.saying ??= desk.agenda.schedule(desk.now + TELL_MS, () => {
    swarm.saying = undefined;
    say(desk, swarm);
    swarm.repeating?.cancel();
    swarm.repeating = desk.agenda.schedule(desk.now + REPEAT_MS, () => say(desk, swarm));
  });
}

export function say(desk: Desk, swarm: Swarm): void {
  forgetOlder(desk, swarm, desk.now - OLD_MS);
  desk.sectionSeq += 1;
  const message = section(desk, swarm);
  desk.effects.push({ type: 'tell-page', page: swarm.page, message });
  swarm.refreshing?.cancel();
  const jitter = 1 + JITTER * (2 * desk.random() - 1);
  swarm.refreshing = desk.agenda.schedule(desk.now + REFRESH_MS * jitter, () => say(desk, swarm));
}

function section(desk: Desk, swarm: Swarm): PageSection {
  const networks = new Map<string, number>();
  const sample = draw(desk, swarm, NAMED).map(({ visitor: { id: visitor, network: address }, whole }) => {
    const network = networks.get(address) ?? networks.size;
    networks.set(address, network);
    return { visitor, whole, network };
  });
  return {
    type: 'page-section',
    page: swarm.page,
    pod: desk.pod,
    boot: desk.boot,
    seq: desk.sectionSeq,
    holders: swarm.wholes.size,
    readers: readersHere(swarm),
    sample,
  };
}

/** Another pod requests the section. */
export function answerSection(desk: Desk, page: PageAddress, pod: PodId): void {
  const swarm = desk.swarms.get(page);
  if (swarm === undefined || swarm.here.size === 0 || pod === desk.pod) return;
  desk.sectionSeq += 1;
  desk.effects.push({ type: 'tell-pod', pod, message: section(desk, swarm) });
}

export function onSection(desk: Desk, said: PageSection): void {
  const swarm = desk.swarms.get(said.page);
  if (swarm === undefined || said.pod === desk.pod) return;
  const known = swarm.sections.get(said.pod);
  const isOlder = known && (known.boot > said.boot || (known.boot === said.boot && known.seq >= said.seq));
  const isOfTheDead = (desk.peers.get(said.pod)?.boot ?? 0) > said.boot;
  if (isOlder || isOfTheDead) return;
  const peer = desk.peers.get(said.pod);
  // Also for a pod whose heartbeat has not arrived yet: without one it is soon considered dead.
  if (peer === undefined)
    hearPeer(desk, said.pod, { boot: said.boot, heardAt: desk.now, visitors: 0, draining: false });
  else if (peer.boot < said.boot) unsettle(desk, swarm, desk.now + desk.limits['page.settleTime']);
  // An empty section is kept as well, so that an earlier one that arrives late does not replace it.
  const { boot, seq, holders, readers, sample } = said;
  swarm.sections.set(said.pod, { boot, seq, holders, readers, sample, at: desk.now });
  count(desk, swarm);
  if (sample.length > 0) offerSoon(desk, swarm);
}

/**
 * Processes of a pod `before` this boot have ended: their sections no longer count, and their visitors may move to other pods. Their last message
 * arrived at `heardAt`; holders of a page that was opened here since then are not known. Visitors that a `draining` pod sent away may not have
 * arrived yet.
 */
export function forgetSections(
  desk: Desk,
  pod: PodId,
  { before, heardAt, draining }: { readonly before: number } & Pick<Peer, 'heardAt' | 'draining'>,
): void {
  const until = desk.now + desk.limits['page.settleTime'];
  for (const swarm of desk.swarms.values()) {
    const known = swarm.sections.get(pod);
    if (known !== undefined && known.boot >= before) continue;
    swarm.sections.delete(pod);
    const hadSomebody = known !== undefined && known.holders + known.readers > 0;
    if (hadSomebody || draining || swarm.askedAt > heardAt) unsettle(desk, swarm, until);
  }
}
