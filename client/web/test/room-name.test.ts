import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roomName } from '../src/text/room-name.ts';

test('a name keeps its letters without their accents, whichever way they are encoded', () => {
  assert.equal(roomName('Überraschung für José'), 'uberraschung-fur-jose');
  assert.equal(roomName('Jose\u0301'), 'jose');
  assert.equal(roomName('Große Straße'), 'grosse-strasse');
  assert.equal(roomName(' Book  club!'), 'book-club-');
});

test('a text without letters from a to z and digits gives no name', () => {
  assert.equal(roomName('книжный клуб'), '');
  assert.equal(roomName('  '), '');
});

test('a name is as long as the service allows', () => assert.equal(roomName('ab'.repeat(40)).length, 48));
