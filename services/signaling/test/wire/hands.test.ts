/** Raised hands and reactions on real sockets of two pods. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client, NO_MEDIA } from '../support/client.ts';
import { keySet, memory, randomRoom } from '../support/pod.ts';
import { withTwoPods } from '../support/two-pods.ts';

const LINES = 3;
const limits = { 'address.joins': 100_000, 'chat.lines': LINES };
const shared = { memory: memory(), keys: keySet(), limits };
const pods = withTwoPods(shared);

const raised = (hand: number) => ({ type: 'change', media: { ...NO_MEDIA, hand } });

describe('hands and reactions', () => {
  test('[HAND-1] a hand is shown on the other pod, to a newcomer, and lowered by media without it', async () => {
    const room = randomRoom();
    const ada = await Client.enter(pods.here.url, room);
    const bo = await Client.enter(pods.there.url, room, 'Bo');
    ada.sendMessage(raised(1));
    const up = await bo.waitFor('changed');
    assert.deepEqual([up.participant, up.media], [ada.participant, { ...NO_MEDIA, hand: 1 }]);
    const late = await Client.enter(pods.there.url, room, 'Cy');
    const listed = late.welcome.roster.find(({ participant }) => participant === ada.participant);
    assert.equal(listed?.media.hand, 1);
    ada.sendMessage({ type: 'change', media: NO_MEDIA });
    const down = await bo.waitFor('changed', { match: ({ media }) => media.hand === undefined });
    assert.equal(down.participant, ada.participant);
    for (const client of [ada, bo, late]) client.drop();
  });

  test('[HAND-1] a hand that is no whole number from 1 to 2^31 is BAD_MESSAGE, and shown to no participant', async () => {
    const room = randomRoom();
    const ada = await Client.enter(pods.here.url, room);
    const bo = await Client.enter(pods.here.url, room, 'Bo');
    for (const hand of [0, 1.5, 2 ** 31 + 1, '1', true]) {
      const since = ada.log.length;
      ada.sendMessage({ type: 'change', media: { ...NO_MEDIA, hand } });
      assert.equal((await ada.waitFor('error', { since })).code, 'BAD_MESSAGE', String(hand));
    }
    ada.sendMessage(raised(2 ** 31));
    assert.equal((await bo.waitFor('changed')).media.hand, 2 ** 31);
    ada.drop();
    bo.drop();
  });

  test('[REACT-1] a reaction reaches the other pod; any other emoji, and text, is BAD_MESSAGE', async () => {
    const room = randomRoom();
    const ada = await Client.enter(pods.here.url, room);
    const bo = await Client.enter(pods.there.url, room, 'Bo');
    ada.sendMessage({ type: 'reaction', emoji: '❤️' });
    const { from, emoji } = await bo.waitFor('reaction');
    assert.deepEqual([from, emoji], [ada.participant, '❤️']);
    for (const other of ['🐢', 'hello', '👍👍', '']) {
      const since = ada.log.length;
      ada.sendMessage({ type: 'reaction', emoji: other });
      assert.equal((await ada.waitFor('error', { since })).code, 'BAD_MESSAGE', other);
    }
    ada.drop();
    bo.drop();
  });

  test('[REACT-3] reactions and chat lines have one rate: TOO_MANY_CHAT_LINES with the time to wait, without an id', async () => {
    const room = randomRoom();
    const ada = await Client.enter(pods.here.url, room);
    const bo = await Client.enter(pods.here.url, room, 'Bo');
    const burst = 2 * LINES;
    const sent = 4 * burst;
    ada.sendMessage({ type: 'chat', id: 'line-0001', text: 'hello' });
    for (let one = 0; one < sent; one += 1) ada.sendMessage({ type: 'reaction', emoji: '👏' });
    ada.sendMessage({ type: 'chat', id: 'line-0002', text: 'again' });
    const refused = await ada.waitFor('error');
    assert.deepEqual([refused.code, refused.ref, refused.fatal], ['TOO_MANY_CHAT_LINES', undefined, false]);
    assert.ok((refused.retryAfterMs ?? 0) > 0);
    const line = await ada.waitFor('error', { match: ({ ref }) => ref === 'line-0002' });
    assert.equal(line.code, 'TOO_MANY_CHAT_LINES');
    bo.sendMessage({ type: 'ping' });
    await bo.waitFor('pong');
    const shown = bo.log.filter(({ type }) => type === 'reaction').length;
    assert.ok(shown >= burst - 1 && shown < sent, `${shown} of ${sent} reactions were shown`);
    ada.drop();
    bo.drop();
  });

  test('[GEN-5] a message of a type that the pod does not know is UNKNOWN_TYPE, and the socket stays open', async () => {
    const ada = await Client.enter(pods.here.url, randomRoom());
    ada.sendMessage({ type: 'wave', emoji: '👋' });
    assert.equal((await ada.waitFor('error')).code, 'UNKNOWN_TYPE');
    ada.sendMessage({ type: 'ping' });
    await ada.waitFor('pong');
    ada.drop();
  });
});
