/** Tickets and resume tokens that are forged, stolen, used twice or of somewhere else. */
import { expectOneOf, each, type Attack } from '../attack.ts';
import type { Arena } from '../arena.ts';
import { Participant } from '../participant.ts';
import { confused, inSeconds, ownKey, signed, strangersKey, transplanted, unsigned } from '../tokens.ts';

const PARTICIPANT = 'p0123456789abcdef';

interface Forgery {
  readonly title: string;
  readonly code: string;
  readonly token: (room: string, arena: Arena) => string;
}

const ticket = (room: string) => ({
  iss: 'parley',
  aud: 'parley:ticket',
  sub: PARTICIPANT,
  room,
  exp: inSeconds(60),
});

const TICKETS: readonly Forgery[] = [
  { title: 'no token at all', code: 'TICKET_INVALID', token: () => 'ticket' },
  { title: 'an empty one', code: 'TICKET_INVALID', token: () => '' },
  { title: 'three dots', code: 'TICKET_INVALID', token: () => '...' },
  {
    title: "a stranger's key under our kid",
    code: 'TICKET_INVALID',
    token: (room, arena) => signed(strangersKey(ownKey(arena).kid), { claims: ticket(room) }),
  },
  {
    title: 'an unknown kid',
    code: 'TICKET_INVALID',
    token: (room) => signed(strangersKey('other'), { claims: ticket(room) }),
  },
  {
    title: 'a kid that is a path',
    code: 'TICKET_INVALID',
    token: (room) => signed(strangersKey('../../../../dev/null'), { claims: ticket(room) }),
  },
  {
    title: 'a key that comes with the token (jwk)',
    code: 'TICKET_INVALID',
    token: (room, arena) => {
      const key = strangersKey(ownKey(arena).kid);
      const header = { jwk: { kty: 'OKP', crv: 'Ed25519', x: key.x } };
      return signed(key, { header, claims: ticket(room) });
    },
  },
  {
    title: 'alg none',
    code: 'TICKET_INVALID',
    token: (room, arena) => unsigned(ownKey(arena), { claims: ticket(room) }),
  },
  {
    title: 'the public key as an HMAC secret',
    code: 'TICKET_INVALID',
    token: (room, arena) => confused(ownKey(arena), { claims: ticket(room) }),
  },
  {
    title: 'a critical extension',
    code: 'TICKET_INVALID',
    token: (room, arena) => signed(ownKey(arena), { header: { crit: ['x'], x: 1 }, claims: ticket(room) }),
  },
  {
    title: 'changed claims',
    code: 'TICKET_INVALID',
    token: (room, arena) =>
      transplanted(signed(ownKey(arena), { claims: ticket('k7m3-q9xd-w2hn-5tzp') }), ticket(room)),
  },
  {
    title: 'another audience',
    code: 'TICKET_INVALID',
    token: (room, arena) => signed(ownKey(arena), { claims: { ...ticket(room), aud: 'parley:media' } }),
  },
  {
    title: 'another issuer',
    code: 'TICKET_INVALID',
    token: (room, arena) => signed(ownKey(arena), { claims: { ...ticket(room), iss: 'other' } }),
  },
  {
    title: 'another room',
    code: 'TICKET_INVALID',
    token: (_room, arena) => signed(ownKey(arena), { claims: ticket('k7m3-q9xd-w2hn-5tzp') }),
  },
  {
    title: 'no expiry',
    code: 'TICKET_INVALID',
    token: (room, arena) => signed(ownKey(arena), { claims: { ...ticket(room), exp: undefined } }),
  },
  {
    title: 'an expired one',
    code: 'TICKET_EXPIRED',
    token: (room, arena) => signed(ownKey(arena), { claims: { ...ticket(room), exp: inSeconds(-60) } }),
  },
];

const RESUMES: readonly Forgery[] = [
  {
    title: "a stranger's key",
    code: 'RESUME_INVALID',
    token: (room, arena) =>
      signed(strangersKey(ownKey(arena).kid), { claims: { ...ticket(room), aud: 'parley:resume' } }),
  },
  {
    title: 'a ticket',
    code: 'RESUME_INVALID',
    token: (room, arena) => signed(ownKey(arena), { claims: ticket(room) }),
  },
  {
    title: 'an expired one',
    code: 'RESUME_EXPIRED',
    token: (room, arena) =>
      signed(ownKey(arena), {
        claims: {
          ...ticket(room),
          aud: 'parley:resume',
          generation: 1,
          since: 0,
          iat: inSeconds(-120),
          exp: inSeconds(-60),
        },
      }),
  },
];

async function presented(arena: Arena, send: (socket: Participant) => void): Promise<string | undefined> {
  const socket = new Participant(arena.edge, arena.room(), { from: arena.address() });
  await socket.connect();
  send(socket);
  try {
    return await socket.refusedWith();
  } finally {
    socket.drop();
  }
}

const title = (one: Forgery): string => one.title;

export const TICKET_ATTACKS: readonly Attack[] = [
  {
    name: 'forged-tickets',
    rules: ['JOIN-7', 'KEY-1', 'KEY-4'],
    run: (arena) =>
      each(TICKETS, title, async ({ code, token }) => {
        const refusal = await presented(arena, (socket) => socket.sendEnter(token(socket.room, arena)));
        expectOneOf(refusal, [code]);
      }),
  },
  {
    name: 'forged-resume-tokens',
    rules: ['RES-6', 'KEY-4'],
    run: (arena) =>
      each(RESUMES, title, async ({ code, token }) => {
        const refusal = await presented(arena, (socket) => socket.sendResume(token(socket.room, arena)));
        expectOneOf(refusal, [code]);
      }),
  },
  {
    name: 'ticket-used-twice',
    rules: ['JOIN-8'],
    async run(arena) {
      const ada = await Participant.enter(arena.edge, arena.room(), { from: arena.address(), name: 'Ada' });
      const thief = new Participant(arena.edge, ada.room, { from: arena.address() });
      await thief.connect();
      thief.sendEnter(ada.joined?.ticket ?? '');
      expectOneOf(await thief.refusedWith(), ['TICKET_USED']);
      if (ada.closed !== undefined) throw new Error('the participant was closed');
      ada.drop();
      return 'TICKET_USED';
    },
  },
  {
    name: 'resume-token-of-another-room',
    rules: ['RES-6'],
    async run(arena) {
      const ada = await Participant.enter(arena.edge, arena.room(), { from: arena.address(), name: 'Ada' });
      const refusal = await presented(arena, (socket) => socket.sendResume(ada.welcome.resume));
      expectOneOf(refusal, ['RESUME_INVALID']);
      ada.drop();
      return 'RESUME_INVALID';
    },
  },
  {
    name: 'resume-after-leave',
    rules: ['RES-6', 'JOIN-12'],
    async run(arena) {
      const mallory = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      const { resume } = mallory.welcome;
      mallory.leave();
      await mallory.refusedWith();
      // At once, and once no pod knows the room any more: grace and what follows it are over.
      const later = arena.isLong ? [0, 12_000] : [0];
      for (const afterMs of later) {
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        const back = new Participant(arena.edge, mallory.room, { from: arena.address() });
        back.generation = mallory.generation;
        await back.connect();
        back.sendResume(resume);
        expectOneOf(await back.refusedWith(), ['RESUME_EXPIRED']);
      }
      return 'RESUME_EXPIRED';
    },
  },
];
