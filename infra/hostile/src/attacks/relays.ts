/** Stream topics and media without the token for them, and the list of clients of a relay. */
import { ask } from '../ask.ts';
import { each, type Attack } from '../attack.ts';
import type { Arena } from '../arena.ts';
import { Bytes } from '../bytes.ts';
import { TEXT, frame } from '../../../../services/signaling/test/support/raw.ts';
import { Participant } from '../participant.ts';
import { environmentOf } from '../processes.ts';
import {
  confused,
  inSeconds,
  ownKey,
  signed,
  strangersKey,
  transplanted,
  unsigned,
  type SigningKey,
} from '../tokens.ts';

const claims = (about: object = {}): object => ({
  aud: 'parley:streams',
  sub: 'mallory',
  publish: ['hostile/1'],
  subscribe: ['hostile/1'],
  exp: inSeconds(60),
  ...about,
});

/** A fatal alert of TLS in clear text (RFC 8446, section 6): the answer of a link port to a client without TLS. */
const ALERT = /^\x15\x03[\x01-\x03]\x00\x02\x02[\s\S]$/;

/** A relay that answers does so at once. */
const STATISTICS_WITHIN_MS = 3000;

interface Bad {
  readonly title: string;
  readonly code: string;
  readonly token: (own: SigningKey) => string;
}

const TOKENS: readonly Bad[] = [
  { title: 'no JWT', code: 'TOKEN_INVALID', token: () => 'x.y.z' },
  { title: 'alg none', code: 'TOKEN_INVALID', token: (own) => unsigned(own, { claims: claims() }) },
  {
    title: 'HMAC with the public key',
    code: 'TOKEN_INVALID',
    token: (own) => confused(own, { claims: claims() }),
  },
  {
    title: "a stranger's key",
    code: 'TOKEN_INVALID',
    token: ({ kid }) => signed(strangersKey(kid), { claims: claims() }),
  },
  {
    title: 'changed claims',
    code: 'TOKEN_INVALID',
    token: (own) => transplanted(signed(own, { claims: claims({ publish: [] }) }), claims()),
  },
  {
    title: 'a critical extension',
    code: 'TOKEN_INVALID',
    token: (own) => signed(own, { header: { crit: ['x'], x: 1 }, claims: claims() }),
  },
  {
    title: 'expired',
    code: 'TOKEN_EXPIRED',
    token: (own) => signed(own, { claims: claims({ exp: inSeconds(-60) }) }),
  },
  {
    title: 'early',
    code: 'TOKEN_NOT_YET_VALID',
    token: (own) => signed(own, { claims: claims({ nbf: inSeconds(600) }) }),
  },
  {
    title: 'a pattern with a star in a name',
    code: 'TOKEN_INVALID',
    token: (own) => signed(own, { claims: claims({ publish: ['host*'] }) }),
  },
  {
    title: 'another topic',
    code: 'TOKEN_INSUFFICIENT_SCOPE',
    token: (own) => signed(own, { claims: claims({ publish: ['hostile/2'], subscribe: ['hostile/2'] }) }),
  },
  {
    title: 'another audience',
    code: 'TOKEN_INSUFFICIENT_SCOPE',
    token: (own) => signed(own, { claims: claims({ aud: 'parley:media' }) }),
  },
];

export const RELAY_ATTACKS: readonly Attack[] = [
  {
    name: 'forged-stream-tokens',
    rules: ['STR-101', 'STR-103', 'STR-105', 'STR-106'],
    run: (arena) =>
      each(
        TOKENS,
        ({ title }) => title,
        async ({ code, token }) => {
          const authorization = `Bearer ${token(ownKey(arena))}`;
          const answer = await upgraded(arena, '/streams/hostile/1', { authorization });
          if (!answer.includes(`"${code}"`)) throw new Error(answer);
        },
      ),
  },
  {
    name: 'guessed-stream-codes',
    rules: ['STR-110', 'STR-114'],
    async run(arena) {
      const answer = await upgraded(arena, `/streams/hostile/1?code=${'a'.repeat(32)}`);
      if (!answer.includes('CODE_INVALID')) throw new Error(answer);
      const revoke = await ask(arena.edge, '/streams/v1/revocations', {
        from: arena.address(),
        json: { sub: 'person' },
        headers: { authorization: `Bearer ${signed(ownKey(arena), { claims: claims() })}` },
      });
      if (revoke.status < 400 || revoke.status > 403)
        throw new Error(`a revocation answered ${revoke.status}`);
      return `CODE_INVALID, ${revoke.code}`;
    },
  },
  {
    name: 'statistics-of-a-token-relay',
    rules: ['STR-101'],
    async run(arena) {
      const [relay = ''] = arena.stack.endpoints.relays;
      const wrong: string[] = [];
      for (const base of [relay, arena.edge.concat('/streams')]) {
        const { pathname } = new URL(base);
        const prefix = pathname === '/' ? '' : pathname;
        const page = await ask(base, `${prefix}/stats`, { from: '127.0.0.1' });
        if (page.status === 200 && page.body.includes('remoteAddr')) wrong.push(`${prefix}/stats`);
        const socket = await Bytes.webSocket(base, `${prefix}/ws`, '127.0.0.1').catch(() => undefined);
        if (socket === undefined) continue;
        socket.write(frame({ opcode: TEXT, payload: 'statistics' }));
        await socket.changes
          .until(
            'an answer',
            () => socket.isEnded || socket.text.includes('\r\n\r\n\x81'),
            STATISTICS_WITHIN_MS,
          )
          .catch(() => {});
        // A refusal of STR-107 is an answer too.
        if (/\r\n\r\n\x81/.test(socket.text) && !socket.text.includes('"authorised":false'))
          wrong.push(`${prefix}/ws`);
        socket.destroy();
      }
      if (wrong.length > 0) throw new Error(`without a token: ${wrong.join(', ')}`);
      return 'refused';
    },
  },
  {
    name: 'media-token-scope',
    rules: ['MEDIA-4'],
    async run(arena) {
      const ada = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      ada.send({ type: 'relay' });
      const { relay } = await ada.waitFor('relay');
      if (relay === null) throw new Error('no relay was offered');
      const patterns = JSON.parse(Buffer.from(relay.token.split('.')[1] ?? '', 'base64url').toString()) as {
        publish: string[];
        subscribe: string[];
      };
      const reach = [...patterns.publish, ...patterns.subscribe];
      if (!reach.every((pattern) => pattern.startsWith(`rooms/${ada.room}/`)))
        throw new Error(`it opens ${reach.join(' ')}`);
      if (!patterns.publish.every((pattern) => pattern.includes(ada.id)))
        throw new Error('it publishes for others');
      ada.drop();
      return `${reach.length} patterns, all of the own room`;
    },
  },
  {
    name: 'link-port-strangers',
    rules: ['STR-91', 'STR-136'],
    run: (arena) =>
      each(linkAddresses(arena), String, async (link) => {
        const stranger = new Bytes(`http://${link}`, '127.0.0.1');
        stranger.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
        await stranger.ended();
        stranger.destroy();
        if (stranger.text !== '' && !ALERT.test(stranger.text))
          throw new Error(`answered ${stranger.text.slice(0, 80)}`);
      }),
  },
];

/** What became of an upgrade: `opened`, or the refusal. */
async function upgraded(arena: Arena, path: string, headers: Record<string, string> = {}): Promise<string> {
  return Bytes.webSocket(arena.edge, path, arena.address(), headers).then(
    (socket) => {
      socket.destroy();
      return 'opened';
    },
    (error: Error) => error.message,
  );
}

/** The address for links between relays, which is known in the region only. */
function linkAddresses({ stack }: Arena): string[] {
  return ['relay-1', 'relay-2'].map(
    (name) => environmentOf(stack.endpoints, name)['PARLEY_RELAY_LINK_LISTEN'] ?? '',
  );
}
