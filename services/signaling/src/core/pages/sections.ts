/** Sections: what pods publish about a page: its numbers, and a sample of the visitors that have chunks. SPEC rule PAGE-10. */
import type { PodId } from '@parley/protocol/ids';
import type { PageSection } from '@parley/protocol/pages-bus';
import type { PageAddress } from '@parley/protocol/pages';
import { draw } from './choose.ts';
import { count, forgetOlder, unsettle } from './counts.ts';
import { offerSoon } from './offers.ts';
import { updatePeer } from './peers.ts';
import { readersHere, type PagesState, type Peer, type Swarm } from './state.ts';

const PUBLISH_DELAY_MS = 250;
/**
 * A section is repeated after this, should a message be lost. With 250 ms before it and `page.countInterval` after it, numbers are right within 2 s.
 */
const REPEAT_MS = 750;
/** Visitors in a sample leave and others come: a section is never much older than this. */
const REFRESH_MS = 15_000;
const JITTER = 0.2;
/** Two refreshes and a margin: a section that was not repeated in this time has ended, and its end was lost. */
const OLD_MS = 40_000;
const SAMPLE_SIZE = 32;

/** Something changed: the other pods are notified once of all changes of this moment. */
export function publishSoon(state: PagesState, swarm: Swarm): void {
  swarm.publishing ??= state.agenda.schedule(state.now + PUBLISH_DELAY_MS, () => {
    swarm.publishing = undefined;
    publishSection(state, swarm);
    swarm.repeating?.cancel();
    swarm.repeating = state.agenda.schedule(state.now + REPEAT_MS, () => publishSection(state, swarm));
  });
}

export function publishSection(state: PagesState, swarm: Swarm): void {
  forgetOlder(state, swarm, state.now - OLD_MS);
  state.sectionSeq += 1;
  const message = section(state, swarm);
  state.effects.push({ type: 'publish-page', page: swarm.page, message });
  swarm.refreshing?.cancel();
  const jitter = 1 + JITTER * (2 * state.random() - 1);
  swarm.refreshing = state.agenda.schedule(state.now + REFRESH_MS * jitter, () =>
    publishSection(state, swarm),
  );
}

function section(state: PagesState, swarm: Swarm): PageSection {
  const networks = new Map<string, number>();
  const sample = draw(state, swarm, SAMPLE_SIZE).map(
    ({ visitor: { id: visitor, network: address }, whole }) => {
      const network = networks.get(address) ?? networks.size;
      networks.set(address, network);
      return { visitor, whole, network };
    },
  );
  return {
    type: 'page-section',
    page: swarm.page,
    pod: state.pod,
    boot: state.boot,
    seq: state.sectionSeq,
    holders: swarm.wholes.size,
    readers: readersHere(swarm),
    sample,
  };
}

/** Another pod requests the section. */
export function answerSection(state: PagesState, page: PageAddress, pod: PodId): void {
  const swarm = state.swarms.get(page);
  if (swarm === undefined || swarm.here.size === 0 || pod === state.pod) return;
  state.sectionSeq += 1;
  state.effects.push({ type: 'publish-pod', pod, message: section(state, swarm) });
}

export function onSection(state: PagesState, received: PageSection): void {
  const swarm = state.swarms.get(received.page);
  if (swarm === undefined || received.pod === state.pod) return;
  const known = swarm.sections.get(received.pod);
  const isOlder =
    known && (known.boot > received.boot || (known.boot === received.boot && known.seq >= received.seq));
  const isOfEndedProcess = (state.peers.get(received.pod)?.boot ?? 0) > received.boot;
  if (isOlder || isOfEndedProcess) return;
  const peer = state.peers.get(received.pod);
  // Also for a pod whose heartbeat has not arrived yet: without one it is soon considered dead.
  if (peer === undefined)
    updatePeer(state, received.pod, {
      boot: received.boot,
      lastMessageAt: state.now,
      visitors: 0,
      draining: false,
    });
  else if (peer.boot < received.boot) unsettle(state, swarm, state.now + state.limits['page.settleTime']);
  // An empty section is kept as well, so that an earlier one that arrives late does not replace it.
  const { boot, seq, holders, readers, sample } = received;
  swarm.sections.set(received.pod, { boot, seq, holders, readers, sample, at: state.now });
  count(state, swarm);
  if (sample.length > 0) offerSoon(state, swarm);
}

/**
 * Processes of a pod `before` this boot have ended: their sections no longer count, and their visitors may move to other pods. Their last message
 * arrived at `lastMessageAt`; holders of a page that was opened here since then are not known. Visitors that a `draining` pod sent away may not have
 * arrived yet.
 */
export function forgetSections(
  state: PagesState,
  pod: PodId,
  { before, lastMessageAt, draining }: { readonly before: number } & Pick<Peer, 'lastMessageAt' | 'draining'>,
): void {
  const until = state.now + state.limits['page.settleTime'];
  for (const swarm of state.swarms.values()) {
    const known = swarm.sections.get(pod);
    if (known !== undefined && known.boot >= before) continue;
    swarm.sections.delete(pod);
    const hadVisitors = known !== undefined && known.holders + known.readers > 0;
    if (hadVisitors || draining || swarm.requestedAt > lastMessageAt) unsettle(state, swarm, until);
  }
}
