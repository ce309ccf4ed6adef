/** What each user of NATS may say and hear, with the configuration that the chart and `make up` use. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connect, PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import {
  beatSubject,
  mediaRelaySubject,
  revokedSubject,
  roomSubject,
  turnNodeSubject,
} from '@parley/protocol/subjects';
import { startNatsWithUsers, type TestNats } from '../support/nats.ts';
import { randomRoom } from '../support/pod.ts';

type User = 'signaling' | 'relay' | 'turn';

let nats: TestNats;
before(async () => {
  nats = await startNatsWithUsers();
});
after(() => nats.close());

const MEDIA = mediaRelaySubject('test');
const ROOM = roomSubject(randomRoom());
const SUBJECTS = [
  turnNodeSubject,
  MEDIA,
  beatSubject,
  ROOM,
  revokedSubject,
  '$JS.API.INFO',
  '$KV.parley-rooms.x',
];
const MAY: Readonly<Record<User, readonly string[]>> = {
  signaling: SUBJECTS,
  relay: [MEDIA, revokedSubject],
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

describe('[TURN-5] [MEDIA-1] a user of NATS', () => {
  for (const user of ['signaling', 'relay', 'turn'] as const)
    test(`${user} says only what is its own`, async () => {
      const found = await refused(user, (connection, subject) => connection.publish(subject, '{}'));
      assert.deepEqual(
        [...found].toSorted(),
        SUBJECTS.filter((subject) => !MAY[user].includes(subject)).toSorted(),
      );
    });

  test('turn hears nobody, and relay neither TURN nodes nor rooms', async () => {
    const listen = (connection: NatsConnection, subject: string): void =>
      void connection.subscribe(subject, { callback: () => {} });
    assert.equal((await refused('turn', listen)).size, SUBJECTS.length);
    const refusedRelay = await refused('relay', listen);
    for (const subject of [turnNodeSubject, ROOM, beatSubject]) assert.ok(refusedRelay.has(subject), subject);
  });
});
