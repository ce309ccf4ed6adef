/** Requests for the sections that other pods have of the pages here. A request is repeated, as a message may be lost. SPEC rules PAGE-11, PAGE-12. */
import type { PodId } from '@parley/protocol/ids';
import type { PageSectionRequest } from '@parley/protocol/pages-bus';
import { forgetOlder, unsettle } from './counts.ts';
import type { Desk, Swarm } from './state.ts';

/** Subscriptions cross NATS gateways with delay: a single request may reach no pod. */
const ASK_AT_MS = [0, 250, 1000] as const;
/** By then all pods have answered the last request. */
const ASKED_MS = 1300;
/** Pods that are discovered together are asked together. */
const GATHER_MS = 250;
/** Requests about all pages are sent in batches: this many pages at once, then a pause. */
const AT_ONCE = 500;
const PAUSE_MS = 100;

/** Starts over: earlier messages may have been lost. */
export function askAgain(desk: Desk, swarm: Swarm): void {
  swarm.askedAt = desk.now;
  for (const ms of ASK_AT_MS) {
    desk.agenda.schedule(desk.now + ms, () => {
      if (desk.swarms.get(swarm.page) === swarm) ask(desk, swarm);
    });
  }
  unsettle(desk, swarm, desk.now + ASKED_MS);
  const askedAt = desk.now;
  desk.agenda.schedule(desk.now + ASKED_MS, () => forgetOlder(desk, swarm, askedAt));
}

/** The bus was disconnected: no page is known until its sections were requested again. `say` publishes this pod's section. */
export function askAgainForAll(desk: Desk, say: (swarm: Swarm) => void): void {
  inParts(
    desk,
    (swarm) => {
      askAgain(desk, swarm);
      say(swarm);
    },
    (swarm, at) => {
      // What is known dates from before, also for pages whose request follows in a later batch.
      swarm.askedAt = desk.now;
      unsettle(desk, swarm, at + ASKED_MS);
    },
  );
}

/** Asks a pod that was discovered, or was silent for long: what it published in the meantime is not known here. The other pods are not asked. */
export function askForAll(desk: Desk, newcomer: PodId): void {
  desk.newcomers.add(newcomer);
  desk.asking ??= desk.agenda.schedule(desk.now + GATHER_MS, () => {
    desk.asking = undefined;
    const newcomers = [...desk.newcomers];
    desk.newcomers.clear();
    inParts(desk, (swarm) => {
      const message = question(desk, swarm);
      for (const pod of newcomers) desk.effects.push({ type: 'tell-pod', pod, message });
    });
  });
}

/** `announce` is called at once, with the time at which the batch of the page is due. */
function inParts(
  desk: Desk,
  act: (swarm: Swarm) => void,
  announce?: (swarm: Swarm, at: number) => void,
): void {
  const swarms = [...desk.swarms.values()];
  for (let part = 0; part * AT_ONCE < swarms.length; part += 1) {
    const batch = swarms.slice(part * AT_ONCE, (part + 1) * AT_ONCE);
    const at = desk.now + part * PAUSE_MS;
    for (const swarm of batch) announce?.(swarm, at);
    desk.agenda.schedule(at, () => {
      for (const swarm of batch) if (desk.swarms.get(swarm.page) === swarm) act(swarm);
    });
  }
}

function ask(desk: Desk, swarm: Swarm): void {
  desk.effects.push({ type: 'tell-page', page: swarm.page, message: question(desk, swarm) });
}

const question = ({ pod }: Desk, { page }: Swarm): PageSectionRequest => ({
  type: 'page-section-request',
  page,
  pod,
});
