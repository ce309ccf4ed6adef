/** Which pods live, and how many visitors the site has. SPEC rules PAGE-8, PAGE-12. */
import type { PageBeat } from '@parley/protocol/pages-bus';
import { forgetSections } from './sections.ts';
import type { Desk } from './state.ts';
import { tagOf } from './tag.ts';

const BEAT_MS = 1000;
/** Other pods learn of a change within this. */
const CHANGED_MS = 250;
/** Three beats missed, and half a one for what is on its way. */
const DEAD_AFTER_MS = 3500;
/** Beyond this the pod doubts itself: it is more likely to be the one cut off. */
const OWN_BEAT_LATE_MS = 2500;

export const hearsItself = (desk: Desk): boolean => desk.now - desk.ownBeatAt <= OWN_BEAT_LATE_MS;

export function startBeating(desk: Desk): void {
  beat(desk);
  judge(desk);
  desk.agenda.schedule(desk.now + BEAT_MS, () => startBeating(desk));
}

function beat(desk: Desk): void {
  const { pod, boot } = desk;
  desk.saidVisitors = desk.visitors.size;
  desk.effects.push({
    type: 'beat',
    message: { type: 'page-beat', pod, boot, visitors: desk.visitors.size },
  });
}

export function onBeat(desk: Desk, { pod, boot, visitors }: PageBeat): void {
  if (pod === desk.pod) {
    if (boot === desk.boot) hearSelf(desk);
    return;
  }
  const known = desk.peers.get(pod);
  if (known !== undefined && known.boot > boot) return;
  if (known !== undefined && known.boot < boot) forgetSections(desk, pod, boot);
  desk.peers.set(pod, { boot, heardAt: desk.now, visitors });
  desk.tags.set(tagOf(pod), pod);
  if (known?.visitors !== visitors) tellVisitors(desk);
}

/** After its own silence the pod has heard nobody: everyone gets a fresh count. */
function hearSelf(desk: Desk): void {
  if (!hearsItself(desk)) for (const peer of desk.peers.values()) peer.heardAt = desk.now;
  desk.ownBeatAt = desk.now;
}

function judge(desk: Desk): void {
  if (!hearsItself(desk)) return;
  for (const [pod, { heardAt }] of desk.peers) {
    if (desk.now - heardAt <= DEAD_AFTER_MS) continue;
    desk.peers.delete(pod);
    desk.tags.delete(tagOf(pod));
    forgetSections(desk, pod, Infinity);
    tellVisitors(desk);
  }
}

/** How many there are; whoever is here is told soon, where it changed, and the other pods are. */
export function tellVisitors(desk: Desk): number {
  desk.telling ??= desk.agenda.schedule(desk.now + desk.limits['page.countEvery'], () => {
    desk.telling = undefined;
    const visitors = total(desk);
    if (visitors === desk.toldVisitors || desk.visitors.size === 0) return;
    desk.toldVisitors = visitors;
    const sockets = [...desk.visitors.keys()];
    desk.effects.push({ type: 'say', sockets, message: { type: 'visitors', visitors } });
  });
  if (desk.visitors.size !== desk.saidVisitors) {
    desk.beatingSoon ??= desk.agenda.schedule(desk.now + CHANGED_MS, () => {
      desk.beatingSoon = undefined;
      if (desk.visitors.size !== desk.saidVisitors) beat(desk);
    });
  }
  return total(desk);
}

function total(desk: Desk): number {
  let visitors = desk.visitors.size;
  for (const peer of desk.peers.values()) visitors += peer.visitors;
  return visitors;
}
