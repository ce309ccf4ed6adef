/** What participants do. */
import type { RoomView } from '@parley/protocol/http';
import type { Media } from '@parley/protocol/people';
import type { Person } from '../test/support/person.ts';
import { nameAfter } from './client-views.ts';
import type { History } from './history.ts';
import { note } from './note.ts';
import { markNewcomer } from './owner-events.ts';
import { isOwned } from './rooms.ts';

const MAX_PEOPLE = 8;
/** In several rooms. */
const MAX_PEOPLE_MANY = 12;

export function enter(history: History, pod: string, at?: RoomView): void {
  const { world, gone, certainty, rooms, faults } = history;
  const most = faults.rooms > 1 ? MAX_PEOPLE_MANY : MAX_PEOPLE;
  if (world.people.length - gone.size >= most) return;
  const view = at ?? (rooms.length > 1 ? world.random.pick(rooms) : rooms[0]);
  if (view === undefined) return;
  const person = world.person();
  if (isOwned(view)) markNewcomer(history, person, view);
  note(history, `${person.name} (${person.id}) joins ${view.room} on ${pod}`, () => person.join(pod, view));
  certainty.changed(person, pod);
}

/** Any participant may resume: a phone that changes its network resumes while its pod still holds the old socket. */
export function resume(history: History, person: Person, pod: string): void {
  if (!person.wasWelcomed || person.line.state === 'arriving' || person.line.state === 'ended') return;
  if (person.isHere) history.vanishedAt = history.world.now;
  note(history, `${person.name} resumes on ${pod}`, () =>
    person.resume(pod, { chat: history.conversation.broughtBy(person), since: person.enteredClock }),
  );
  history.certainty.changed(person, pod);
}

export function lose(history: History, person: Person): void {
  if (!person.isHere || !('pod' in person.line)) return;
  const { pod } = person.line;
  note(history, `${person.name} loses its socket`, () => person.lose());
  history.certainty.changed(person, pod);
}

export function vanish(history: History, person: Person): void {
  if (!person.isHere) return;
  note(history, `${person.name} vanishes`, () => person.vanish());
  history.vanishedAt = history.world.now;
}

export function leave(history: History, person: Person): void {
  const { line } = person;
  if (line.state !== 'here') return;
  note(history, `${person.name} leaves`, () => person.leave());
  history.gone.set(person, history.world.now);
  history.certainty.changed(person, line.pod);
}

/** The older tab must stop for good, so the history continues with the newer one. */
export function duplicate(history: History, person: Person, pod: string): void {
  if (!person.isHere) return;
  const { world, tabs } = history;
  const secondTab = person.duplicate();
  tabs.push({ older: person, newer: secondTab });
  world.people.splice(world.people.indexOf(person), 1, secondTab);
  note(history, `${person.name} is opened in a second tab on ${pod}`, () => secondTab.resume(pod));
  history.certainty.changed(secondTab, pod);
}

export function change(history: History, person: Person): void {
  const { random } = history.world;
  const media: Media = { audio: random.chance(0.5), video: random.chance(0.5), screen: false };
  if (!person.isHere || !('pod' in person.line)) return;
  history.changes += 1;
  if (history.changes % 4 === 1) media.hand = history.changes;
  // The name and the media by turns.
  const name = nameAfter(person, history.changes);
  const changed = history.changes % 2 === 0 ? { name } : { media };
  note(history, `${person.name} changes ${JSON.stringify(changed)}`, () => person.change(changed));
}

export function sendDirected(history: History, person: Person): void {
  const reader = history.world.random.pick(history.world.people);
  if (reader === undefined || reader === person || !person.isHere) return;
  note(history, `${person.name} writes to ${reader.name}`, () => history.directed.send(person, reader));
}

export function chat(history: History, person: Person): void {
  if (person.isHere) note(history, `${person.name} chats`, () => history.conversation.send(person));
}
