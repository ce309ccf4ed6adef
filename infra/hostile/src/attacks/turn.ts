/** TURN: peers inside the network, invalid credentials, and more allocations than calls need. */
import type { IceServer } from '@parley/protocol/http';
import { LIMITS } from '@parley/protocol/limits';
import { TurnClient, type Login } from '../../../../services/turn/test/turn-client.ts';
import { joinFrom } from '../ask.ts';
import { each, eachInTurn, expectOneOf, type Attack } from '../attack.ts';
import type { Participant } from '../participant.ts';
import { credentialOf, loginIn, turnServer } from '../turn-login.ts';

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const QUOTA = 486;
/** The longest that a credential may live, and so keep working after a ban. */
const MAX_AGE_S = 900;
/** What all participants of one network may have at once: `turn.networkAllocations`. */
const NETWORK_ALLOCATIONS = LIMITS['turn.networkAllocations'].value;

const DENIED = [
  '127.0.0.1',
  '127.0.0.53',
  '10.0.0.1',
  '10.96.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '100.100.100.200',
  '192.0.0.192',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
];

export const TURN_ATTACKS: readonly Attack[] = [
  {
    name: 'turn-peers-inside',
    rules: ['TURN-4'],
    async run(arena) {
      const { who, login } = await credentialOf(arena);
      const client = await TurnClient.open(turnServer(arena), login);
      try {
        expectOneOf((await client.allocate()).outcome, ['ok']);
        return await eachInTurn(DENIED, String, async (peer) =>
          expectOneOf(await client.permit(peer), [FORBIDDEN]),
        );
      } finally {
        await client.close();
        who.drop();
      }
    },
  },
  {
    name: 'turn-forged-credentials',
    rules: ['TURN-4'],
    async run(arena) {
      const { who, login } = await credentialOf(arena);
      const [expiry = '', ...rest] = login.username.split(':');
      const forged: Record<string, Login> = {
        'another password': { ...login, password: Buffer.from('guess').toString('base64') },
        'a later expiry': { ...login, username: [Number(expiry) + 86_400, ...rest].join(':') },
        'another holder': {
          ...login,
          username: `${login.username.slice(0, -1)}${login.username.endsWith('a') ? 'b' : 'a'}`,
        },
        nobody: { username: '', password: '' },
      };
      const refused = await each(
        Object.entries(forged),
        ([title]) => title,
        async ([, wrong]) => {
          const client = await TurnClient.open(turnServer(arena), wrong);
          try {
            expectOneOf((await client.allocate()).outcome, [UNAUTHORIZED, 400]);
          } finally {
            await client.close();
          }
        },
      );
      who.drop();
      return refused;
    },
  },
  {
    name: 'turn-before-entering',
    rules: ['TURN-1', 'JOIN-2'],
    async run(arena) {
      const answer = await joinFrom(arena.edge, arena.room(), { from: arena.address() });
      const { iceServers = [] } = answer as { iceServers?: readonly IceServer[] };
      if (loginIn(iceServers) !== undefined) throw new Error('the answer to a join has a TURN credential');
      return 'no credential';
    },
  },
  {
    name: 'turn-credential-lifetime',
    rules: ['TURN-2'],
    async run(arena) {
      const { who, login } = await credentialOf(arena);
      const lives = Number(login.username.split(':')[0]) - Date.now() / 1000;
      who.drop();
      if (!(lives <= MAX_AGE_S)) throw new Error(`it lives ${Math.round(lives)} s`);
      return `${Math.round(lives)} s`;
    },
  },
  {
    name: 'turn-allocations-of-one-network',
    rules: ['TURN-1'],
    alone: true,
    async run(arena) {
      const from = arena.address();
      const clients: TurnClient[] = [];
      const people: Participant[] = [];
      let granted = 0;
      let refused = 0;
      try {
        // Ten participants of one network, each of whom takes what it gets.
        for (let joined = 0; joined < 10; joined += 1) {
          const { who, login } = await credentialOf(arena, from);
          people.push(who);
          const opened = await Promise.all(
            Array.from({ length: 100 }, () => TurnClient.open(turnServer(arena), login)),
          );
          clients.push(...opened);
          for (const { outcome } of await Promise.all(opened.map((client) => client.allocate())))
            if (outcome === 'ok') granted += 1;
            else if (outcome === QUOTA) refused += 1;
          if (granted > NETWORK_ALLOCATIONS) throw new Error(`${granted} allocations of one network`);
        }
        // Another network is not affected.
        const other = await credentialOf(arena);
        const client = await TurnClient.open(turnServer(arena), other.login);
        clients.push(client);
        expectOneOf((await client.allocate()).outcome, ['ok']);
        other.who.drop();
        return `${granted} granted, ${refused} refused, another network gets one`;
      } finally {
        await Promise.allSettled(clients.map((client) => client.close()));
        for (const who of people) who.drop();
      }
    },
  },
];
