import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallSnapshot, ChatEntry, Person } from '@parley/sdk/call';
import { newsBetween, type News } from '../src/call/news.ts';

const READER = { readsChat: false, isAway: false, lowersHand: false, origin: 'https://parley.example' };
const QUIET = { audio: true, video: true, screen: false };

function person(name: string, media: Partial<Person['media']> = {}): Person {
  return {
    participant: `p-${name}`,
    name,
    presence: 'here',
    owner: false,
    coOwner: false,
    muted: false,
    media: { ...QUIET, ...media },
    link: { status: 'connecting' },
    stream: null,
    screen: null,
    mixed: false,
    videoPaused: false,
    level: 0,
  };
}

const ME = {
  participant: person('Me').participant,
  name: 'Me',
  media: QUIET,
  owner: false,
  coOwner: false,
  muted: false,
};

function snapshot(change: Partial<CallSnapshot> = {}): CallSnapshot {
  return {
    connection: { status: 'connected', pod: 'eu_a' },
    room: 'k7mq-2x9d-htw4-e0vn',
    view: null,
    me: ME,
    allMuted: false,
    path: { kind: 'mesh', reason: null },
    mix: null,
    people: [],
    hands: [],
    reactions: [],
    lobby: [],
    muteRequests: 0,
    chat: [],
    ...change,
  };
}

const line = (id: string, mine = false): ChatEntry => ({
  id,
  from: person('Ada').participant,
  name: 'Ada',
  text: id,
  at: 0,
  mine,
  status: 'acknowledged',
});

const texts = (news: readonly News[]): readonly string[] => news.map(({ text }) => text);

test('who joined, who left, and who shares a screen', () => {
  const before = snapshot({ people: [person('Ada'), person('Bo', { screen: true }), person('Cy')] });
  const next = snapshot({ people: [person('Ada', { screen: true }), person('Bo'), person('Di')] });
  assert.deepEqual(newsBetween(before, next, READER), [
    { text: 'Ada is sharing their screen', notice: 'info' },
    { text: 'Bo stopped sharing their screen', notice: 'quiet' },
    { text: 'Di joined', notice: 'info', alert: 'join' },
    { text: 'Cy left', notice: 'info' },
  ]);
});

test('after a lost connection only that it is back: who came and went meanwhile is in the list', () => {
  const lost = { status: 'recovering', sinceMs: 0, offline: false, turnAtMs: null, movingTo: null } as const;
  const before = snapshot({ connection: lost, people: [person('Ada')] });
  const next = snapshot({ people: [person('Bo')] });
  assert.deepEqual(newsBetween(before, next, READER), [{ text: 'Connected again', notice: 'quiet' }]);
  assert.deepEqual(newsBetween(next, snapshot({ connection: lost }), READER), []);
  assert.deepEqual(newsBetween(snapshot({ connection: { status: 'joining' } }), next, READER), []);
});

test('a hand that goes up, and our own that the owner lowers, but not one that its user lowers', () => {
  const ada = person('Ada');
  const mine = { ...ME, media: { ...QUIET, hand: 1 } };
  const up = snapshot({ people: [ada], me: mine, hands: [ME.participant, ada.participant] });
  const before = snapshot({ people: [ada], me: mine, hands: [ME.participant] });
  assert.deepEqual(texts(newsBetween(before, up, READER)), ['Ada raised their hand']);
  const down = snapshot({ people: [ada] });
  assert.deepEqual(texts(newsBetween(before, down, READER)), ['An owner lowered your hand']);
  assert.deepEqual(newsBetween(before, down, { ...READER, lowersHand: true }), []);
  const another = snapshot({ people: [ada], me: { ...ME, participant: person('New').participant } });
  assert.deepEqual(newsBetween(before, another, READER), [], 'a call that began again has no hands');
});

test('the room is locked and opened, a newcomer waits, and the owner lets the user speak again', () => {
  const view = { room: 'book-club@eu', cap: 100, locked: false, lobby: true } as CallSnapshot['view'];
  const open = snapshot({ view, me: { ...ME, muted: true } });
  const locked = snapshot({
    view: view && { ...view, locked: true },
    lobby: [{ participant: person('Ines').participant, name: 'Ines' }],
  });
  assert.deepEqual(newsBetween(open, locked, READER), [
    { text: 'You can speak again: switch your microphone on', notice: 'info' },
    { text: 'The room is locked: newcomers cannot join', notice: 'quiet' },
    { text: 'Ines wants to come in', alert: 'knock' },
  ]);
  assert.deepEqual(texts(newsBetween(locked, open, READER)), ['The room is open again']);
});

test('the user becomes a co-owner, and is none any more', () => {
  const before = snapshot({});
  const made = snapshot({ me: { ...ME, owner: true, coOwner: true } });
  const text = 'You are a co-owner now: you can mute, remove and admit people';
  assert.deepEqual(texts(newsBetween(before, made, READER)), [text]);
  assert.deepEqual(texts(newsBetween(made, before, READER)), ['You are no co-owner any more']);
});

test('new lines of the chat: none of our own, no notice while it is open, an alert also then for a user who is away', () => {
  const before = snapshot({ chat: [line('old')] });
  const next = snapshot({ chat: [line('old'), line('new'), line('mine', true)] });
  assert.deepEqual(newsBetween(before, next, READER), [{ text: 'Ada: new', notice: 'chat', alert: 'chat' }]);
  assert.deepEqual(newsBetween(before, next, { ...READER, readsChat: true }), [{ text: 'Ada: new' }]);
  assert.deepEqual(newsBetween(before, next, { ...READER, readsChat: true, isAway: true }), [
    { text: 'Ada: new', alert: 'chat' },
  ]);
  const many = snapshot({ chat: Array.from({ length: 9 }, (_, nth) => line(String(nth))) });
  assert.deepEqual(texts(newsBetween(before, many, READER)), [
    'Ada: 4',
    'Ada: 5',
    'Ada: 6',
    'Ada: 7',
    'Ada: 8',
  ]);
});

test('a file in the chat is announced by its name and size, not by its link', () => {
  const link = `https://parley.example/p/${'3f'.repeat(32)}#key=AAAAAAAAAAAAAAAAAAAAAA`;
  const file = { ...line('file'), text: `plan.pdf (1.2 MiB)\n${link}` };
  assert.deepEqual(texts(newsBetween(snapshot(), snapshot({ chat: [file] }), READER)), [
    'Ada: plan.pdf (1.2 MiB)',
  ]);
});
