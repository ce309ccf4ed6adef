/** What each user of NATS may publish and receive, with the configuration of the chart and `make up`. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connect, PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import {
  heartbeatSubject,
  mediaRelaySubject,
  relayMutesSubject,
  relayOriginSubject,
  relayPublicLeaseSubject,
  revokedSubject,
  roomSubject,
  turnNodeSubject,
} from '@parley/protocol/subjects';
import { markOf, startNatsWithUsers, type TestNats } from '../support/nats.ts';
import { randomRoom } from '../support/pod.ts';

type User = 'signaling' | 'relay-1' | 'relay-2' | 'turn';

let nats: TestNats;
before(async () => {
  nats = await startNatsWithUsers();
});
after(() => nats.close());

const media = (relay: string): string => mediaRelaySubject('test', relay);
const lease = (relay: string): string => `parley.v1.relay.lease.test.${relay}`;
const origin = (relay: string): string => relayOriginSubject('test', relay);
const publicLease = (relay: string): string => relayPublicLeaseSubject('test', relay);
const codes = (relay: string): string => `parley.v1.relay.codes.${markOf(relay)}`;
const inbox = (relay: string): string => `_INBOX_relay.${relay}.x`;
const ROOM = roomSubject(randomRoom());
const SUBJECTS = [
  turnNodeSubject,
  ...['relay-1', 'relay-2'].flatMap((relay) => [
    media(relay),
    lease(relay),
    origin(relay),
    publicLease(relay),
    codes(relay),
    inbox(relay),
  ]),
  heartbeatSubject,
  ROOM,
  revokedSubject,
  relayMutesSubject,
  '$JS.API.INFO',
  '$KV.parley-rooms.x',
];
/** Requests for codes go to any relay, and an answer to the inbox that a request names. */
function relayMay(relay: string): readonly string[] {
  const toAny = ['relay-1', 'relay-2'].flatMap((one) => [codes(one), inbox(one)]);
  return [media(relay), lease(relay), origin(relay), publicLease(relay), ...toAny, revokedSubject];
}
const MAY: Readonly<Record<User, readonly string[]>> = {
  signaling: [
    turnNodeSubject,
    heartbeatSubject,
    ROOM,
    revokedSubject,
    relayMutesSubject,
    '$JS.API.INFO',
    '$KV.parley-rooms.x',
  ],
  'relay-1': relayMay('relay-1'),
  'relay-2': relayMay('relay-2'),
  turn: [turnNodeSubject],
};

async function open(user: User): Promise<NatsConnection> {
  return connect({ servers: nats.url, user, pass: user, reconnect: false });
}

/** Which of the subjects NATS refuses to do this with. */
async function refused(user: User, act: (connection: NatsConnection, subject: string) => void) {
  const connection = await open(user);
  const found = new Set<string>();
  const reading = (async () => {
    for await (const status of connection.status())
      if (status.type === 'error' && status.error instanceof PermissionViolationError)
        found.add(status.error.subject);
  })();
  for (const subject of SUBJECTS) act(connection, subject);
  await connection.flush();
  await connection.close();
  await reading;
  return found;
}

describe('[TURN-5] [MEDIA-1] [MEDIA-18] [BUS-8] a user of NATS', () => {
  for (const user of ['signaling', 'relay-1', 'relay-2', 'turn'] as const)
    test(`${user} publishes only on its own subjects`, async () => {
      const found = await refused(user, (connection, subject) => connection.publish(subject, '{}'));
      assert.deepEqual(
        [...found].toSorted(),
        SUBJECTS.filter((subject) => !MAY[user].includes(subject)).toSorted(),
      );
    });

  test('turn receives nothing, and relay neither TURN nodes nor rooms', async () => {
    const listen = (connection: NatsConnection, subject: string): void =>
      void connection.subscribe(subject, { callback: () => {} });
    assert.equal((await refused('turn', listen)).size, SUBJECTS.length);
    const refusedRelay = await refused('relay-1', listen);
    for (const subject of [turnNodeSubject, ROOM, heartbeatSubject])
      assert.ok(refusedRelay.has(subject), subject);
  });

  test('[BUS-8] a relay receives the leases of all relays, and only its own requests and answers', async () => {
    const found = await refused(
      'relay-1',
      (connection, subject) => void connection.subscribe(subject, { callback: () => {} }),
    );
    for (const subject of [codes('relay-2'), inbox('relay-2'), media('relay-1')])
      assert.ok(found.has(subject), subject);
    for (const subject of [
      lease('relay-2'),
      origin('relay-2'),
      publicLease('relay-2'),
      codes('relay-1'),
      inbox('relay-1'),
      revokedSubject,
      relayMutesSubject,
    ])
      assert.ok(!found.has(subject), subject);
  });

  test('[MEDIA-18] signaling receives no leases with keys of links', async () => {
    const found = await refused(
      'signaling',
      (connection, subject) => void connection.subscribe(subject, { callback: () => {} }),
    );
    for (const subject of [lease('relay-1'), origin('relay-1')]) assert.ok(found.has(subject), subject);
  });

  test('[BUS-8] a relay that sends itself a message gets no right to publish on the reply subject', async () => {
    const relay = await open('relay-1');
    const refusals: string[] = [];
    const reading = (async () => {
      for await (const status of relay.status())
        if (status.type === 'error' && status.error instanceof PermissionViolationError)
          refusals.push(status.error.subject);
    })();
    const own = relay.subscribe(lease('relay-1'), { max: 1 });
    relay.publish(lease('relay-1'), '{}', { reply: media('relay-2') });
    for await (const _ of own);
    relay.publish(media('relay-2'), '{}');
    await relay.flush();
    await relay.close();
    await reading;
    assert.deepEqual(refusals, [media('relay-2')]);
  });
});
