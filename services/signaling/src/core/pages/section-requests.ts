/** Requests for the sections that other pods have of the pages here. A request is repeated, as a message may be lost. SPEC rules PAGE-11, PAGE-12. */
import { regionIn, type PodId } from '@parley/protocol/ids';
import type { PageSectionRequest } from '@parley/protocol/pages-bus';
import { forgetOlder, unsettle } from './counts.ts';
import type { PagesState, Swarm } from './state.ts';

/** Subscriptions cross NATS gateways with delay: a single request may reach no pod. */
const REQUEST_AT_MS = [0, 250, 1000] as const;
/** By then all pods have answered the last request. */
const ANSWERED_MS = 1300;
/** Pods that are discovered together are asked together. */
const GATHER_MS = 250;
/** Requests about all pages are sent in batches: this many pages at once, then a pause. */
const BATCH_PAGES = 500;
const PAUSE_MS = 100;

/** Starts over: earlier messages may have been lost. */
export function requestAgain(state: PagesState, swarm: Swarm): void {
  swarm.requestedAt = state.now;
  for (const ms of REQUEST_AT_MS) {
    state.agenda.schedule(state.now + ms, () => {
      if (state.swarms.get(swarm.page) === swarm) request(state, swarm);
    });
  }
  unsettle(state, swarm, state.now + ANSWERED_MS);
  const requestedAt = state.now;
  state.agenda.schedule(state.now + ANSWERED_MS, () => forgetOlder(state, swarm, requestedAt));
}

/** The bus was disconnected: no page is known until its sections were requested again. `publish` publishes this pod's section. */
export function requestAllAgain(state: PagesState, publish: (swarm: Swarm) => void): void {
  inBatches(
    state,
    (swarm) => {
      requestAgain(state, swarm);
      publish(swarm);
    },
    (swarm, at) => {
      // What is known dates from before, also for pages whose request follows in a later batch.
      swarm.requestedAt = state.now;
      unsettle(state, swarm, at + ANSWERED_MS);
    },
  );
}

/** Asks a pod that was discovered, or was silent for long: what it published in the meantime is not known here. The other pods are not asked. */
export function requestFrom(state: PagesState, newcomer: PodId): void {
  state.newcomers.add(newcomer);
  state.requesting ??= state.agenda.schedule(state.now + GATHER_MS, () => {
    state.requesting = undefined;
    const newcomers = [...state.newcomers];
    state.newcomers.clear();
    inBatches(state, (swarm) => {
      const message = sectionRequest(state, swarm);
      for (const pod of newcomers) state.effects.push({ type: 'publish-pod', pod, message });
    });
  });
}

/** A region was silent, perhaps for less than the time after which its pods count as dead: what they published then may be lost. */
export function requestFromRegions(state: PagesState): void {
  const others = [...state.peers.keys()].filter((pod) => regionIn(pod) !== regionIn(state.pod));
  for (const pod of others) requestFrom(state, pod);
  if (others.length === 0) return;
  for (const swarm of state.swarms.values()) unsettle(state, swarm, state.now + ANSWERED_MS);
}

/** `announce` is called at once, with the time at which the batch of the page is due. */
function inBatches(
  state: PagesState,
  act: (swarm: Swarm) => void,
  announce?: (swarm: Swarm, at: number) => void,
): void {
  const swarms = [...state.swarms.values()];
  for (let part = 0; part * BATCH_PAGES < swarms.length; part += 1) {
    const batch = swarms.slice(part * BATCH_PAGES, (part + 1) * BATCH_PAGES);
    const at = state.now + part * PAUSE_MS;
    for (const swarm of batch) announce?.(swarm, at);
    state.agenda.schedule(at, () => {
      for (const swarm of batch) if (state.swarms.get(swarm.page) === swarm) act(swarm);
    });
  }
}

function request(state: PagesState, swarm: Swarm): void {
  state.effects.push({ type: 'publish-page', page: swarm.page, message: sectionRequest(state, swarm) });
}

const sectionRequest = ({ pod }: PagesState, { page }: Swarm): PageSectionRequest => ({
  type: 'page-section-request',
  page,
  pod,
});
