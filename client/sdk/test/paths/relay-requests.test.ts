import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RelayAnswer } from '@parley/protocol/server-messages';
import { RelayRequests } from '../../src/paths/relay-requests.ts';
import { fakeClock } from '../fakes/clock.ts';

const RELAY = { url: 'https://own.example/', token: 'a', certificateHashes: [] };
const OTHER = { ...RELAY, url: 'https://other.example/' };
const RENEW_MS = 150_000;
const STANDBY = {
  ...RELAY,
  url: 'https://far.example/',
  api: 'https://us.example',
  renewAfterMs: RENEW_MS,
};
const ANSWER: RelayAnswer = { type: 'relay', relay: RELAY, standby: STANDBY };

function start() {
  const clock = fakeClock();
  const sent: (string | undefined)[] = [];
  const socket = { isOpen: true };
  const requests = new RelayRequests(clock, ({ exclude }) => {
    if (socket.isOpen) sent.push(exclude);
    return socket.isOpen;
  });
  /** What the request resolves to within that time. */
  const within = async (ms: number, request: Promise<unknown>): Promise<unknown> => {
    let result: unknown = 'pending';
    void request.then((value) => (result = value));
    await clock.advance(ms);
    return result;
  };
  return { clock, sent, socket, requests, within };
}

test('[MEDIA-25] without an answer for 400 ms, or without a socket, a lost relay is replaced by the standby', async () => {
  const { requests, socket, within } = start();
  requests.answered(ANSWER);
  const request = requests.request(RELAY.url, true);
  assert.equal(await within(399, request), 'pending');
  assert.equal(await within(1, request), STANDBY);
  socket.isOpen = false;
  assert.equal(await requests.request(RELAY.url, true), STANDBY);
});

test('[MEDIA-25] an answer comes first, and a relay that works is never replaced by the standby', async () => {
  const { requests, socket, within } = start();
  requests.answered(ANSWER);
  const request = requests.request(RELAY.url, true);
  requests.answered({ ...ANSWER, relay: OTHER });
  assert.equal(await request, OTHER);
  assert.equal(await within(5000, requests.request(RELAY.url)), undefined);
  socket.isOpen = false;
  assert.equal(await requests.request(RELAY.url), undefined);
});

test('[MEDIA-25] where no relay of the region accepts sessions, the standby is the answer', async () => {
  const { requests } = start();
  const request = requests.request(RELAY.url, true);
  requests.answered({ type: 'relay', relay: null, standby: STANDBY });
  assert.equal(await request, STANDBY);
  const without = requests.request(STANDBY.url);
  requests.answered({ type: 'relay', relay: null });
  assert.equal(await without, null);
});

test('[MEDIA-25] a standby that was lost itself, or whose token is too old, is not taken', async () => {
  const { clock, requests, socket } = start();
  requests.answered(ANSWER);
  socket.isOpen = false;
  assert.equal(await requests.request(STANDBY.url, true), undefined);
  await clock.advance(2 * RENEW_MS - 1);
  assert.equal(await requests.request(RELAY.url, true), STANDBY);
  await clock.advance(1);
  assert.equal(await requests.request(RELAY.url, true), undefined);
});

test('[MEDIA-25] the client asks again after `renewAfterMs` and on a new socket, until it knows no standby', async () => {
  const { clock, sent, requests } = start();
  requests.renew();
  assert.deepEqual(sent, [], 'one region: none is known');
  requests.answered(ANSWER);
  await clock.advance(RENEW_MS);
  assert.equal(sent.length, 1);
  requests.answered(ANSWER);
  requests.renew();
  assert.equal(sent.length, 2);
  requests.answered({ type: 'relay', relay: RELAY });
  await clock.advance(2 * RENEW_MS);
  assert.equal(sent.length, 2);
  assert.equal(clock.pending, 0);
});

test('[MEDIA-10] [MEDIA-25] the answer to a renewal that names the relay which was lost meanwhile is not that of the request', async () => {
  const { clock, requests, within } = start();
  requests.answered(ANSWER);
  await clock.advance(RENEW_MS);
  const request = requests.request(RELAY.url, true);
  requests.answered(ANSWER);
  assert.equal(await within(0, request), 'pending');
  requests.answered({ ...ANSWER, relay: OTHER });
  assert.equal(await request, OTHER);
});

test('[MEDIA-25] nothing is asked any more when the call has ended', async () => {
  const { clock, sent, requests } = start();
  requests.answered(ANSWER);
  requests.close();
  await clock.advance(2 * RENEW_MS);
  assert.deepEqual(sent, []);
});
