/** With the NATS password of a compromised service: it can publish and subscribe only as that service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { ROOMS_BUCKET, heartbeatSubject, roomSubject, turnNodeSubject } from '@parley/protocol/subjects';
import { each, type Attack } from '../attack.ts';
import type { Arena } from '../arena.ts';
import { Participant } from '../participant.ts';
import { environmentOf } from '../processes.ts';

type User = 'relay' | 'turn';

/** The credentials that an attacker who took over the first relay, or a TURN node, finds there. */
function credentialOf({ dir, stack }: Arena, user: User): { readonly user: string; readonly pass: string } {
  if (user === 'turn') return { user, pass: readFileSync(join(dir, 'secrets/nats-turn'), 'utf8') };
  const environment = environmentOf(stack.endpoints, 'relay-1');
  return {
    user: environment['PARLEY_RELAY_NATS_USER'] ?? '',
    pass: environment['PARLEY_RELAY_NATS_PASSWORD'] ?? '',
  };
}

const open = (arena: Arena, user: User): Promise<NatsConnection> =>
  connect({ servers: arena.stack.endpoints.nats, ...credentialOf(arena, user), reconnect: false });

/** Whether NATS refuses it. */
async function isRefused(arena: Arena, user: User, act: (nats: NatsConnection) => void): Promise<boolean> {
  const nats = await open(arena, user);
  let refused = false;
  const reading = (async () => {
    for await (const status of nats.status())
      if (status.type === 'error' && status.error instanceof PermissionViolationError) refused = true;
  })();
  act(nats);
  await nats.flush();
  await nats.close();
  await reading;
  return refused;
}

interface Forbidden {
  readonly user: User;
  readonly verb: 'publish' | 'subscribe';
  readonly subject: string;
}

/** The subject of the leases of media relays of the region. */
const MEDIA_RELAYS = 'parley.v1.media.relay.local';
const ROOM = roomSubject('k7m3-q9xd-w2hn-5tzp');
const forbidden = (user: User, verb: Forbidden['verb'], subjects: readonly string[]): Forbidden[] =>
  subjects.map((subject) => ({ user, verb, subject }));

const FORBIDDEN: readonly Forbidden[] = [
  ...forbidden('relay', 'subscribe', [
    ROOM,
    heartbeatSubject,
    turnNodeSubject,
    '>',
    'parley.v1.>',
    'parley.v1.directed.>',
    '$KV.>',
  ]),
  ...forbidden('relay', 'publish', [
    ROOM,
    heartbeatSubject,
    turnNodeSubject,
    `$KV.${ROOMS_BUCKET}.x`,
    '$JS.API.STREAM.NAMES',
  ]),
  ...forbidden('turn', 'subscribe', [turnNodeSubject, ROOM, '>', '_INBOX.>']),
  ...forbidden('turn', 'publish', [
    ROOM,
    heartbeatSubject,
    MEDIA_RELAYS,
    `$KV.${ROOMS_BUCKET}.x`,
    '$JS.API.INFO',
  ]),
];

export const NATS_ATTACKS: readonly Attack[] = [
  {
    name: 'nats-subjects-of-others',
    rules: ['TURN-5', 'MEDIA-1'],
    run: (arena) =>
      each(
        FORBIDDEN,
        ({ user, verb, subject }) => `${user} ${verb} ${subject}`,
        async ({ user, verb, subject }) => {
          const refused = await isRefused(arena, user, (nats) => {
            if (verb === 'publish') nats.publish(subject, '{}');
            else nats.subscribe(subject, { callback: () => {} });
          });
          if (!refused) throw new Error('NATS allowed it');
        },
      ),
  },
  {
    name: 'nats-without-a-password',
    rules: ['BUS-1'],
    run: (arena) =>
      each(
        [{}, { user: 'signaling' }, { user: 'signaling', pass: 'guess' }, { user: 'sys', pass: 'sys' }],
        (one) => JSON.stringify(one),
        async (credential) => {
          const nats = await connect({
            servers: arena.stack.endpoints.nats,
            reconnect: false,
            ...credential,
          }).catch(() => undefined);
          await nats?.close();
          if (nats !== undefined) throw new Error('NATS let it in');
        },
      ),
  },
  {
    name: 'lease-of-another-relay',
    rules: ['MEDIA-1'],
    async run(arena) {
      const evil = 'https://evil.example:4443/';
      const nats = await open(arena, 'relay');
      // On the subject of all relays, and on one that ends with the name.
      const says = (relay: string): void => {
        const lease = {
          relay,
          epoch: 2 ** 40,
          role: 'origin',
          url: evil,
          certificateHashes: [],
          sessions: 0,
        };
        const text = JSON.stringify({ ...lease, capacity: 100_000 });
        for (const subject of [MEDIA_RELAYS, `${MEDIA_RELAYS}.${relay}`]) nats.publish(subject, text);
      };
      for (let sent = 0; sent < 20; sent += 1)
        for (const name of ['relay-1', 'relay-2', 'relay-evil']) says(name);
      await nats.flush();
      const urls = new Set<string>();
      for (let asked = 0; asked < 6; asked += 1) {
        const ada = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
        ada.send({ type: 'relay' });
        const { relay } = await ada.waitFor('relay');
        urls.add(relay?.url ?? 'none');
        ada.drop();
      }
      await nats.close();
      const strangers = [...urls].filter((url) => !arena.stack.endpoints.media.includes(url));
      if (strangers.length > 0) throw new Error(`participants are sent to ${strangers.join(', ')}`);
      return 'ignored';
    },
  },
];
