/** Asking a pod for its section, after a gap or a digest that does not agree. SPEC rule ROS-9. */
import type { PodId } from '@parley/protocol/ids';
import { keepSection, type Pod, type RemoteSection, type Room } from '../state.ts';

/** A question or its answer can be lost too; the digests that follow ask again. */
const REPEAT_AFTER_MS = 500;

export function askForSection(pod: Pod, room: Room, owner: PodId, epoch: number): void {
  if (owner === pod.id) return;
  const known = room.sections.get(owner)?.get(epoch);
  if (known?.asked !== undefined) return;
  const section = known ?? placeholder(room, owner, epoch);
  section.asked = pod.agenda.schedule(pod.now + REPEAT_AFTER_MS, () => {
    section.asked = undefined;
  });
  pod.effects.push({
    type: 'tell-pod',
    pod: owner,
    message: { type: 'ask', room: room.view.room, pod: pod.id },
  });
}

/** So that one question is asked however many deltas of an unknown section arrive before its answer. */
function placeholder(room: Room, owner: PodId, epoch: number): RemoteSection {
  const section: RemoteSection = {
    boot: 0,
    seq: -1,
    dead: false,
    entries: new Map(),
    tombstones: new Map(),
    asked: undefined,
  };
  keepSection(room, owner, epoch, section);
  return section;
}
