/** What happened in a call between two of its snapshots, in words for notices, screen readers and alerts. */
import type { CallSnapshot, Person } from '@parley/sdk/call';
import type { AlertKind } from '../memory/alerts.ts';
import { readFileLine } from './files/file-line.ts';
import type { NoticeKind } from './notices.ts';

export interface News {
  readonly text: string;
  /** Absent: the page shows it elsewhere. */
  readonly notice?: NoticeKind;
  readonly alert?: AlertKind;
}

export interface Reader {
  /** Lines of the chat are seen where they appear. */
  readonly readsChat: boolean;
  /** The user looks at another tab. */
  readonly isAway: boolean;
  /** The user is about to lower the hand, and no owner. */
  readonly lowersHand: boolean;
  /** Of this site, whose links of files are recognized. */
  readonly origin: string;
}

/** A burst of older lines, as after a resume, is in the chat. */
const MAX_LINES = 5;

export function newsBetween(before: CallSnapshot, next: CallSnapshot, reader: Reader): readonly News[] {
  const mayListen = before.me.muted && !next.me.muted;
  const listening: News = { text: 'You can speak again: switch your microphone on', notice: 'info' };
  return [
    ...(mayListen ? [listening] : []),
    ...(next.connection.status === 'connected' ? whileConnected(before, next, reader) : []),
  ];
}

function whileConnected(before: CallSnapshot, next: CallSnapshot, reader: Reader): readonly News[] {
  // The banner of a lost connection goes without a word, which a screen reader does not see.
  if (before.connection.status === 'recovering') return [{ text: 'Connected again', notice: 'quiet' }];
  if (before.connection.status !== 'connected') return [];
  return [
    ...people(before, next),
    ...hands(before, next, reader),
    ...ownership(before, next),
    ...room(before, next),
    ...lobby(before, next),
    ...chat(before, next, reader),
  ];
}

function people(before: CallSnapshot, next: CallSnapshot): readonly News[] {
  const known = new Map(before.people.map((person) => [person.participant, person]));
  const found = next.people.flatMap((person): readonly News[] => {
    const earlier = known.get(person.participant);
    known.delete(person.participant);
    return earlier
      ? screens(earlier, person)
      : [{ text: `${person.name} joined`, notice: 'info', alert: 'join' }];
  });
  const left = [...known.values()].map(({ name }): News => ({ text: `${name} left`, notice: 'info' }));
  return [...found, ...left];
}

function screens(before: Person, { name, media }: Person): readonly News[] {
  if (before.media.screen === media.screen) return [];
  return media.screen
    ? [{ text: `${name} is sharing their screen`, notice: 'info' }]
    : [{ text: `${name} stopped sharing their screen`, notice: 'quiet' }];
}

function hands(before: CallSnapshot, next: CallSnapshot, { lowersHand }: Reader): readonly News[] {
  const raised = next.people
    .filter(({ participant }) => next.hands.includes(participant) && !before.hands.includes(participant))
    .map(({ name }): News => ({ text: `${name} raised their hand`, notice: 'info', alert: 'hand' }));
  const { me } = before;
  const isLowered = me.media.hand !== undefined && next.me.media.hand === undefined;
  if (!isLowered || lowersHand || me.participant !== next.me.participant) return raised;
  return [...raised, { text: 'An owner lowered your hand', notice: 'info' }];
}

function ownership({ me }: CallSnapshot, next: CallSnapshot): readonly News[] {
  if (me.coOwner === next.me.coOwner || me.participant !== next.me.participant) return [];
  return next.me.coOwner
    ? [{ text: 'You are a co-owner now: you can mute, remove and admit people', notice: 'info' }]
    : [{ text: 'You are no co-owner any more', notice: 'info' }];
}

function room(before: CallSnapshot, next: CallSnapshot): readonly News[] {
  if (before.view === null || next.view === null || before.view.locked === next.view.locked) return [];
  const text = next.view.locked ? 'The room is locked: newcomers cannot join' : 'The room is open again';
  return [{ text, notice: 'quiet' }];
}

function lobby(before: CallSnapshot, next: CallSnapshot): readonly News[] {
  const waited = new Set(before.lobby.map(({ participant }) => participant));
  return next.lobby
    .filter(({ participant }) => !waited.has(participant))
    .map(({ name }) => ({ text: `${name} wants to come in`, alert: 'knock' }));
}

function chat(
  before: CallSnapshot,
  next: CallSnapshot,
  { readsChat, isAway, origin }: Reader,
): readonly News[] {
  const read = new Set(before.chat.map(({ id }) => id));
  return next.chat
    .slice(-MAX_LINES)
    .filter(({ id, mine }) => !mine && !read.has(id))
    .map(({ name, text }) => ({
      text: `${name}: ${inWords(text, origin)}`,
      ...(readsChat ? {} : { notice: 'chat' }),
      ...(readsChat && !isAway ? {} : { alert: 'chat' }),
    }));
}

/** The link of a file is nothing to read. */
function inWords(line: string, origin: string): string {
  const file = readFileLine(line, origin);
  return file === null ? line : `${file.name} (${file.size})`;
}
