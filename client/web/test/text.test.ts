import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatEntry } from '@parley/sdk/call';
import { chatGroups, textParts } from '../src/call/chat-text.ts';
import { isPage, roomFromText, routeOf } from '../src/route.ts';

test('a room is understood from a link, a path, a code in any shape and a name with its region', () => {
  const code = 'k7mq-2x9d-htw4-e0vn';
  for (const text of [
    code,
    ` ${code.toUpperCase()} `,
    'k7mq2x9dhtw4e0vn',
    'K7MQ 2X9D HTW4 EOVN',
    `https://parley.example/r/${code}?from=mail#x`,
    `/r/${code}`,
  ])
    assert.equal(roomFromText(text)?.room, code, text);
  assert.equal(roomFromText('https://parley.example/r/book-club%40eu')?.room, 'book-club@eu');
});

test('text that is no room is not guessed at', () => {
  for (const text of [
    '',
    'hello',
    'k7mq-2x9d',
    '@eu',
    'a@',
    'https://parley.example/',
    '../../etc/passwd',
    '%E0%A4%A',
  ])
    assert.equal(roomFromText(text), undefined, text);
});

test('pages are the start page, rooms and streams; a broken room link leads to a page that says so', () => {
  assert.equal(routeOf('/').page, 'landing');
  assert.equal(routeOf('/r/k7mq-2x9d-htw4-e0vn').page, 'room');
  assert.equal(routeOf('/r/half-a-li').page, 'invalid-link');
  assert.equal(routeOf('/streams').page, 'streams');
  assert.equal(routeOf('/streams/out/cam').page, 'streams');
  assert.equal(routeOf('/streamside').page, 'not-found');
  assert.equal(isPage('/assets/x.js'), false);
});

test('links in chat are found without the punctuation around them, and nothing but http is one', () => {
  const links = (text: string) => textParts(text).flatMap((part) => (part.link ? [part.text] : []));
  assert.deepEqual(links('see (https://a.example/x), or http://b.example.'), [
    'https://a.example/x',
    'http://b.example',
  ]);
  assert.deepEqual(links('javascript:alert(1) data:text/html,x ftp://a.example'), []);
  const text = 'a https://x.example b\nc';
  assert.equal(
    textParts(text)
      .map((part) => part.text)
      .join(''),
    text,
  );
});

test('chat lines of one person are one group until another person writes or time passes', () => {
  const line = (from: string, at: number): ChatEntry => ({
    id: `${from}-${at}`,
    from,
    name: from,
    text: 'x',
    at,
    mine: false,
    status: 'acknowledged',
  });
  const groups = chatGroups([
    line('a', 0),
    line('a', 60_000),
    line('b', 61_000),
    line('a', 62_000),
    line('a', 400_000),
  ]);
  assert.deepEqual(
    groups.map((group) => group.entries.length),
    [2, 1, 1, 1],
  );
});
