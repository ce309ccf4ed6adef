/** Tickets and resume tokens that must not be accepted, each with its code. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SignJWT, importJWK, type JWK } from 'jose';
import { CODES, type Code } from '@parley/protocol/codes';
import { createTokens, type Tokens } from '../../src/adapters/tokens.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { withBystanders, type News } from '../support/bystanders.ts';
import { Client, NO_MEDIA, ticketFor } from '../support/client.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { keySet, randomRoom, startTestPod } from '../support/pod.ts';

const KEYS = keySet();
const ANY_PARTICIPANT = 'p0123456789abcdef';
const HOUR_MS = 3_600_000;

let nats: TestNats;
let pod: RunningPod;
let tokens: Tokens;
let strangers: Tokens;
before(async () => {
  nats = await startNats();
  pod = await startTestPod({ nats: nats.url, keys: KEYS });
  tokens = createTokens(KEYS);
  // Another installation, whose key happens to have the same id.
  strangers = createTokens(keySet());
});
after(async () => {
  await pod.close();
  await nats.close();
});

interface Bad {
  readonly title: string;
  readonly code: Code;
  readonly ticket: (room: string) => string | Promise<string>;
}

const TICKETS: readonly Bad[] = [
  { title: '[JOIN-7] no token at all', code: 'TICKET_INVALID', ticket: () => 'ticket' },
  { title: '[JOIN-7] an empty ticket', code: 'TICKET_INVALID', ticket: () => '' },
  {
    title: '[KEY-1] a ticket signed with another key under our kid',
    code: 'TICKET_INVALID',
    ticket: (room) => strangers.signTicket({ sub: ANY_PARTICIPANT, room }, HOUR_MS),
  },
  {
    title: '[KEY-1] a ticket with alg none',
    code: 'TICKET_INVALID',
    ticket: (room) => unsigned({ sub: ANY_PARTICIPANT, room, aud: 'parley:ticket', iss: 'parley' }),
  },
  {
    title: '[KEY-1] a ticket signed with the public key as an HMAC secret',
    code: 'TICKET_INVALID',
    ticket: (room) => hmac({ sub: ANY_PARTICIPANT, room }),
  },
  {
    title: '[KEY-1] a ticket whose claims were changed',
    code: 'TICKET_INVALID',
    ticket: async (room) =>
      changed(tokens.signTicket({ sub: ANY_PARTICIPANT, room: randomRoom() }, HOUR_MS), room),
  },
  {
    title: '[KEY-4] a token of another audience',
    code: 'TICKET_INVALID',
    ticket: (room) => signedAs('parley:relay', 'parley', { sub: ANY_PARTICIPANT, room }),
  },
  {
    title: '[KEY-4] a token of another issuer',
    code: 'TICKET_INVALID',
    ticket: (room) => signedAs('parley:ticket', 'somebody', { sub: ANY_PARTICIPANT, room }),
  },
  {
    title: '[KEY-4] a resume token used as a ticket',
    code: 'TICKET_INVALID',
    ticket: (room) => tokens.signResume({ sub: ANY_PARTICIPANT, room, generation: 1, since: 0 }, HOUR_MS),
  },
  {
    title: '[JOIN-7] a ticket of another room',
    code: 'TICKET_INVALID',
    ticket: () => tokens.signTicket({ sub: ANY_PARTICIPANT, room: randomRoom() }, HOUR_MS),
  },
  {
    title: '[JOIN-7] a ticket that this pod issued for another room',
    code: 'TICKET_INVALID',
    ticket: async () => (await ticketFor(pod.url, randomRoom())).ticket,
  },
  {
    title: '[JOIN-7] a ticket whose participant is no participant id',
    code: 'TICKET_INVALID',
    ticket: (room) => tokens.signTicket({ sub: 'root', room }, HOUR_MS),
  },
  {
    title: '[JOIN-4] a ticket that is too old (ticket.ttl)',
    code: 'TICKET_EXPIRED',
    ticket: (room) => tokens.signTicket({ sub: ANY_PARTICIPANT, room }, -10_000),
  },
];

const RESUMES: readonly Bad[] = [
  {
    title: '[KEY-4] a ticket used as a resume token',
    code: 'RESUME_INVALID',
    ticket: (room) => tokens.signTicket({ sub: ANY_PARTICIPANT, room }, HOUR_MS),
  },
  {
    title: '[RES-6] a resume token signed with another key',
    code: 'RESUME_INVALID',
    ticket: (room) => strangers.signResume({ sub: ANY_PARTICIPANT, room, generation: 1, since: 0 }, HOUR_MS),
  },
  {
    title: '[RES-6] a resume token of another room',
    code: 'RESUME_INVALID',
    ticket: () =>
      tokens.signResume({ sub: ANY_PARTICIPANT, room: randomRoom(), generation: 1, since: 0 }, HOUR_MS),
  },
  {
    title: '[RES-6] a resume token that is too old (resume.ttl)',
    code: 'RESUME_EXPIRED',
    ticket: (room) => tokens.signResume({ sub: ANY_PARTICIPANT, room, generation: 1, since: 0 }, -10_000),
  },
];

describe('tickets', { concurrency: 6 }, () => {
  for (const { title, code, ticket } of TICKETS) {
    test(`${title}: ${code}`, () =>
      refused(code, async (client) => {
        const generation = 1;
        client.sendMessage({
          type: 'enter',
          ticket: await ticket(client.room),
          generation,
          name: 'Eve',
          media: NO_MEDIA,
        });
      }));
  }

  for (const { title, code, ticket } of RESUMES) {
    test(`${title}: ${code}`, () =>
      refused(code, async (client) => client.sendResume('Eve', await ticket(client.room))));
  }

  test('[JOIN-8] a ticket that was used: TICKET_USED, and its participant stays', async () => {
    await withBystanders(
      pod.url,
      async (room, ada) => {
        const { ticket } = await ticketFor(pod.url, room);
        const enter = { type: 'enter', ticket, generation: 1, name: 'Cas', media: NO_MEDIA };
        const first = new Client(room);
        await first.connect(pod.url);
        first.sendMessage(enter);
        await first.waitFor('welcome');
        const second = new Client(room);
        await second.connect(pod.url);
        second.sendMessage({ ...enter, generation: 2 });
        assert.deepEqual(await second.refusedWith(), codes('TICKET_USED'));
        first.sendMessage({ type: 'ping' });
        await first.waitFor('pong');
        first.leave();
        await ada.waitFor('left');
      },
      ['joined', 'left'],
    );
  });

  test('[RES-5] a second tab resumes: the first gets REPLACED, and the others see nothing', async () => {
    await withBystanders(
      pod.url,
      async (room, ada) => {
        const first = await Client.enter(pod.url, room, 'Cas');
        const secondTab = new Client(room);
        await secondTab.connect(pod.url);
        secondTab.sendMessage({
          type: 'resume',
          token: first.welcome.resume,
          generation: 2,
          name: 'Cas',
          media: NO_MEDIA,
          chat: [],
        });
        await secondTab.waitFor('welcome');
        assert.deepEqual(await first.refusedWith(), codes('REPLACED'));
        first.sendResume();
        secondTab.leave();
        await ada.waitFor('left');
        const news = ada.log.slice(-2).map(({ type }) => type);
        assert.deepEqual(news, ['joined', 'left']);
      },
      ['joined', 'left'],
    );
  });

  test('[JOIN-13] a name that may not be shown: NAME_INVALID (name.chars)', async () => {
    for (const name of ['x'.repeat(65), '   ', 'a\u202eb', 'tab\u0000']) {
      await refused('NAME_INVALID', async (client) => {
        const { ticket } = await ticketFor(pod.url, client.room);
        client.sendMessage({ type: 'enter', ticket, generation: 1, name, media: NO_MEDIA });
      });
    }
  });

  test('[GEN-2] unknown fields are not passed on to other participants', async () => {
    const room = randomRoom();
    const ada = await Client.enter(pod.url, room, 'Ada');
    const eve = new Client(room);
    await eve.connect(pod.url);
    const { ticket } = await ticketFor(pod.url, room);
    const media = { ...NO_MEDIA, junk: 'x'.repeat(100) };
    eve.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Eve', media });
    const { member } = await ada.waitFor('joined');
    assert.deepEqual(member.media, NO_MEDIA);
    for (const client of [ada, eve]) client.drop();
  });
});

const codes = (code: Code): { code: Code; close: number | null } => ({ code, close: CODES[code].close });

async function refused(
  code: Code,
  sendMessage: (client: Client) => Promise<void>,
  news: News = [],
): Promise<void> {
  await withBystanders(
    pod.url,
    async (room) => {
      const client = new Client(room);
      await client.connect(pod.url);
      await sendMessage(client);
      assert.deepEqual(await client.refusedWith(), codes(code));
    },
    news,
  );
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const inAnHour = (): number => Math.floor((Date.now() + HOUR_MS) / 1000);

const unsigned = (claims: object): string =>
  `${base64({ alg: 'none', kid: 'k1' })}.${base64({ ...claims, exp: inAnHour() })}.`;

function hmac(claims: Record<string, unknown>): Promise<string> {
  const { x } = KEYS.keys[0] as { x: string };
  return new SignJWT({ ...claims, iss: 'parley', aud: 'parley:ticket', exp: inAnHour() })
    .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
    .sign(Buffer.from(x, 'base64url'));
}

function changed(token: string, room: string): string {
  const [head, , signature] = token.split('.');
  const claims = { sub: ANY_PARTICIPANT, room, iss: 'parley', aud: 'parley:ticket', exp: inAnHour() };
  return `${head}.${base64(claims)}.${signature}`;
}

async function signedAs(audience: string, issuer: string, claims: Record<string, unknown>): Promise<string> {
  const key = await importJWK(KEYS.keys[0] as JWK, 'EdDSA');
  return new SignJWT({ ...claims, iss: issuer, aud: audience, exp: inAnHour() })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'k1' })
    .sign(key);
}
