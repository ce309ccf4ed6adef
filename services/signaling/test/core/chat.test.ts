/** Chat: merged by id, bounded, and restored by a resume. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from '../support/world.ts';

test('[CHAT-2] a line reaches all others on every pod, and its sender gets an acknowledgement', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('a');
  const cas = world.join('b');
  ada.chat('line-0001', 'hello');
  world.advance(10);
  for (const person of [bob, cas]) {
    const [line] = person.messagesOf('chat');
    assert.deepEqual([line?.line.from, line?.line.name, line?.line.text], [ada.id, ada.name, 'hello']);
  }
  assert.deepEqual(ada.messagesOf('chat'), []);
  assert.equal(ada.messagesOf('chat-ack')[0]?.id, 'line-0001');
});

test('[CHAT-1] a line that is sent twice is acknowledged twice and shown once', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  ada.chat('line-0001', 'hello');
  world.advance(100);
  ada.chat('line-0001', 'hello');
  world.advance(100);
  assert.equal(bob.messagesOf('chat').length, 1);
  const [first, second] = ada.messagesOf('chat-ack');
  assert.deepEqual(first, second);
});

test('[CHAT-6] a line that is lost on its way to a pod is repeated half a second later, and after a gap when the pod catches up', () => {
  const world = new World({ pods: ['a', 'b'] });
  const ada = world.join('a');
  const bob = world.join('b');
  const received = (): string[] => bob.messagesOf('chat').map(({ line }) => line.text);
  world.network.drop(({ type }) => type === 'chat');
  ada.chat('line-0001', 'hello');
  world.advance(490);
  assert.deepEqual(received(), []);
  world.advance(20);
  assert.deepEqual(received(), ['hello']);

  world.network.cut('a', 'b');
  ada.chat('line-0002', 'are you there?');
  world.advance(2500);
  // The answers to `hello` would contain it too.
  world.network.withFault(({ type }) => (type === 'sections' ? [] : [0]));
  world.network.healAll();
  world.advance(2000);
  assert.deepEqual(received(), ['hello', 'are you there?']);
});

test('[CHAT-4] a resume receives the missed lines, on the same pod and on another', () => {
  for (const pod of ['a', 'b', 'c']) {
    const world = new World();
    const ada = world.join('a');
    const bob = world.join('b');
    bob.lose();
    ada.chat('line-0001', 'are you there?');
    world.advance(100);
    bob.resume(pod);
    world.advance(500);
    assert.deepEqual(
      bob.welcome.chat.map(({ text }) => text),
      ['are you there?'],
      `on ${pod}`,
    );
  }
});

test('[CHAT-5] a newcomer does not receive lines from before it entered', () => {
  const world = new World();
  const ada = world.join('a');
  ada.chat('line-0001', 'a secret');
  world.advance(100);
  for (const pod of ['a', 'b']) {
    const bob = world.join(pod);
    world.advance(5000);
    assert.deepEqual([bob.welcome.chat, bob.messagesOf('chat')], [[], []]);
  }
});

test('[CHAT-5] nor does a resume: the token contains the time of the first welcome', () => {
  for (const pod of ['a', 'b']) {
    const world = new World();
    const ada = world.join('a');
    ada.chat('line-0001', 'a secret');
    world.advance(100);
    const since = world.clock;
    const bob = world.join('a');
    ada.chat('line-0002', 'welcome, Bob');
    bob.lose();
    bob.resume(pod, { since });
    world.advance(500);
    assert.deepEqual(
      bob.welcome.chat.map(({ text }) => text),
      ['welcome, Bob'],
      `on ${pod}`,
    );
  }
});

test('[CHAT-5] a pod keeps only the latest lines (chat.history)', () => {
  const world = new World({ limits: { 'chat.history': 3 } });
  const ada = world.join('a');
  for (let number = 1; number <= 5; number += 1) ada.chat(`line-000${number}`, `line ${number}`);
  ada.resume('a');
  world.advance(500);
  assert.deepEqual(
    ada.welcome.chat.map(({ text }) => text),
    ['line 3', 'line 4', 'line 5'],
  );
});

test('[CHAT-4] after every pod died a client restores the lines, for the participants of every pod', () => {
  const world = new World({ pods: ['a', 'b'] });
  const ada = world.join('a');
  const bob = world.join('b');
  ada.chat('line-0001', 'hello');
  world.advance(100);
  const lines = bob.messagesOf('chat').map(({ line }) => line);
  for (const pod of ['a', 'b']) {
    world.kill(pod);
    world.start(pod);
  }
  world.advance(3000);
  const cas = world.join('a');
  bob.resume('b', { chat: lines });
  world.advance(500);
  assert.deepEqual(
    cas.messagesOf('chat').map(({ line }) => line.text),
    ['hello'],
  );
  ada.resume('a');
  world.advance(500);
  assert.deepEqual(
    ada.welcome.chat.map(({ text }) => text),
    ['hello'],
  );
});

test('[CHAT-4] a resume cannot add lines of other participants', () => {
  const world = new World();
  const ada = world.join('a');
  const bob = world.join('b');
  world.advance(world.limits['resume.grace']);
  const line = { id: 'line-0001', from: ada.id, name: ada.name, text: 'I owe you money', at: 1 };
  bob.resume('b', { chat: [line, { ...line, id: 'line-0002', from: bob.id, text: 'mine' }] });
  world.advance(500);
  assert.deepEqual(
    bob.welcome.chat.map(({ text }) => text),
    ['mine'],
  );
});

test('[CHAT-8] a participant cannot suppress a line of another one by using its id first', () => {
  const world = new World({ pods: ['a'] });
  const ada = world.join('a');
  const bob = world.join('a');
  ada.chat('line-0001', 'hello');
  world.advance(100);
  const lines = bob.messagesOf('chat').map(({ line }) => line);
  world.kill('a');
  world.start('a');
  world.advance(3000);
  const own = { id: 'line-0001', from: bob.id, name: bob.name, text: 'never said', at: world.clock };
  bob.resume('a', { chat: [own] });
  world.advance(500);
  ada.resume('a', { chat: lines });
  world.advance(500);
  assert.deepEqual(
    ada.welcome.chat.map(({ text }) => text),
    ['never said', 'hello'],
  );
});

test('[BUS-4] the chat in an answer between pods fits into one message, however long the lines', () => {
  const world = new World();
  const ada = world.join('a');
  for (let number = 100; number < 200; number += 1) ada.chat(`line-0${number}`, '\u0001'.repeat(2000));
  world.join('b');
  const biggest = Math.max(...world.network.sent.map(({ parcel }) => JSON.stringify(parcel).length));
  assert.ok(biggest > 100_000 && biggest < 1_000_000, `${biggest} bytes`);
});
