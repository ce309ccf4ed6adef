/** The steps of the story. */
import { setTimeout } from 'k6/timers';
import { countError, lateMs } from './metrics.js';
import { askToJoin } from './parley.js';
import { Participant, nameOf } from './participant.js';

/**
 * Comes into the call at the planned moment; `undefined` where it was refused, which is counted. From the welcome on the participant does by
 * itself what a call needs: offers, answers, candidates.
 */
export async function join({ site, rooms, startAt }, profile, visit) {
  await until(startAt + visit.startMs);
  const begunAt = Date.now();
  lateMs.add(begunAt - startAt - visit.startMs);
  const pod = visit.scattered ? `${visit.call}-${visit.seat}-${visit.number}` : undefined;
  const { joined, refused, detail } = await askInTurn(site, rooms[visit.call], { name: nameOf(visit), pod });
  if (joined === undefined) {
    countError(refused, detail);
    return undefined;
  }
  const participant = new Participant({ profile, visit, startAt, begunAt, joined, pod });
  return (await participant.welcome()) ? participant : undefined;
}

/** Asks for a ticket; where a busy pod gives a slot, at that time again. */
export async function askInTurn(site, room, who, onSlot = () => {}) {
  let answer = askToJoin(site, room, who);
  while (answer.slot !== undefined) {
    onSlot(answer);
    await until(Date.now() + (answer.retryAfterMs ?? 0));
    answer = askToJoin(site, room, { ...who, slot: answer.slot });
  }
  return answer;
}

/** Stays in the call until the planned end. */
export const call = ({ startAt }, visit) => until(startAt + visit.endMs);

export const leave = (participant) => participant.leave();

export function until(moment) {
  const ms = moment - Date.now();
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
