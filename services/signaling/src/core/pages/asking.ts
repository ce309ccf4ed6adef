/** What the other pods have of the pages here: asked more than once, as a question may be lost. SPEC rules PAGE-11, PAGE-12. */
import type { PodId } from '@parley/protocol/ids';
import type { PageSectionRequest } from '@parley/protocol/pages-bus';
import { forgetOlder, unsettle } from './counts.ts';
import type { Desk, Swarm } from './state.ts';

/** Interest crosses gateways with delay: a single question may reach nobody. */
const ASK_AT_MS = [0, 250, 1000] as const;
/** By then all have answered the last question. */
const ASKED_MS = 1300;
/** Several pods that turn up together are asked together. */
const GATHER_MS = 250;
/** About all pages is asked in parts: so many pages at once, and as many more after a pause. */
const AT_ONCE = 500;
const PAUSE_MS = 100;

/** From the beginning: what was said before may be lost. */
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

/** The bus was away: nothing is known of any page until it was asked about. `say`: what this pod has of it. */
export function askAgainForAll(desk: Desk, say: (swarm: Swarm) => void): void {
  inParts(
    desk,
    (swarm) => {
      askAgain(desk, swarm);
      say(swarm);
    },
    (swarm, at) => {
      // What is known is of before, also of those who are asked in a moment.
      swarm.askedAt = desk.now;
      unsettle(desk, swarm, at + ASKED_MS);
    },
  );
}

/** A pod turned up that was not heard for long, or never: what it said meanwhile is not known here. The others need not say all once more. */
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

/** `announce` learns at once when each page is due. */
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
