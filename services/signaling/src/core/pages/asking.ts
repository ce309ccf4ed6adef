/** What the other pods have of the pages here: asked more than once, as a question may be lost. SPEC rules PAGE-11, PAGE-12. */
import type { PodId } from '@parley/protocol/ids';
import type { PageAsk } from '@parley/protocol/pages-bus';
import { forgetOlder, unsettle } from './counts.ts';
import type { Desk, Swarm } from './state.ts';

/** Interest crosses gateways with delay: a single question may reach nobody. */
const ASK_AT_MS = [0, 250, 1000] as const;
/** By then all have answered the last question. */
const ASKED_MS = 1300;
/** Several pods that turn up together are asked together. */
const GATHER_MS = 250;

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

/** A pod turned up that was not heard for long, or never: what it said meanwhile is not known here. The others need not say all once more. */
export function askForAll(desk: Desk, newcomer: PodId): void {
  desk.newcomers.add(newcomer);
  desk.asking ??= desk.agenda.schedule(desk.now + GATHER_MS, () => {
    desk.asking = undefined;
    for (const pod of desk.newcomers)
      for (const swarm of desk.swarms.values())
        desk.effects.push({ type: 'tell-pod', pod, message: question(desk, swarm) });
    desk.newcomers.clear();
  });
}

function ask(desk: Desk, swarm: Swarm): void {
  desk.effects.push({ type: 'tell-page', page: swarm.page, message: question(desk, swarm) });
}

const question = ({ pod }: Desk, { page }: Swarm): PageAsk => ({ type: 'page-ask', page, pod });
