/** Requests that are not what they seem: paths, smuggling, heads and bodies without an end. */
import { isCode } from '@parley/protocol/codes';
import { ask } from '../ask.ts';
import { each, expectOneOf, type Attack } from '../attack.ts';
import type { Arena } from '../arena.ts';
import { Bytes } from '../bytes.ts';

const INTERNAL = [
  '/metrics',
  '/readyz',
  '/livez',
  '/debug/x',
  '/admin',
  '/v1/../metrics',
  '/v1/%2e%2e/metrics',
  '/v1/./../readyz',
  '//metrics',
  '///readyz',
  '/%6detrics',
  '/v1/..%2fmetrics',
  '/v1/..%5cmetrics',
  '/v1/..\\metrics',
  '/streams/..%2fmetrics',
  '/streams/%2e%2e/metrics',
  '/metrics%00',
  '/metrics;x=1',
  '/METRICS',
  '/v1/rooms/../../metrics',
  '/media/../metrics',
  '/stats/prometheus',
  '/config_dump',
  '/quitquitquit',
  '/server_info',
  '/streams/metrics',
  '/streams/stats',
  '/streams/healthz',
  '/streams/v1/../metrics',
];
/** What only an internal page has. */
const SECRETS = /parley_[a-z]+_|process_cpu|"draining"|envoy_cluster|bootstrap|"topic":/;

/** The edge answers in milliseconds what it takes for a request. */
const HIDDEN_ANSWER_MS = 2000;

interface Smuggled {
  readonly title: string;
  readonly request: string;
}

const GET = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const post = (headers: string, body = ''): string =>
  `POST /v1/rooms/nobody/join HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;

const SMUGGLED: readonly Smuggled[] = [
  {
    title: 'Content-Length and Transfer-Encoding',
    request: post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${GET}`),
  },
  { title: 'two lengths', request: post('Content-Length: 2\r\nContent-Length: 40\r\n', `{}${GET}`) },
  { title: 'a list of lengths', request: post('Content-Length: 2, 40\r\n', `{}${GET}`) },
  { title: 'a negative length', request: post('Content-Length: -1\r\n', GET) },
  { title: 'a signed length', request: post('Content-Length: +2\r\n', `{}${GET}`) },
  { title: 'a length in hex', request: post('Content-Length: 0x2\r\n', `{}${GET}`) },
  {
    title: 'an unknown transfer coding',
    request: post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${GET}`),
  },
  {
    title: 'chunked that is not last',
    request: post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${GET}`),
  },
  { title: 'a folded header', request: post('X-A: b\r\n Transfer-Encoding: chunked\r\n', `0\r\n\r\n${GET}`) },
  { title: 'a space before the colon', request: post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${GET}`) },
  {
    title: 'a bare carriage return',
    request: post('X-A: b\rTransfer-Encoding: chunked\r\n', `0\r\n\r\n${GET}`),
  },
  { title: 'a null byte in a header', request: post('X-A: b\u0000c\r\n') },
  {
    title: 'a chunk size that overflows',
    request: post('Transfer-Encoding: chunked\r\n', 'fffffffffffffffff\r\n'),
  },
  { title: 'no host', request: 'GET /healthz HTTP/1.1\r\n\r\n' },
  { title: 'another protocol', request: 'GET /healthz HTTP/3.7\r\nHost: x\r\n\r\n' },
  { title: 'a line that is none', request: '\u0016\u0003\u0001 not http\r\n\r\n' },
];

/** Bodies of a join that are not what a join is. */
const BODIES: readonly {
  readonly title: string;
  readonly body: string;
  readonly codes: readonly string[];
}[] = [
  { title: 'over the limit', body: JSON.stringify({ name: 'x'.repeat(5000) }), codes: ['BODY_TOO_LARGE'] },
  { title: 'no JSON', body: '{', codes: ['BAD_REQUEST'] },
  { title: 'an array', body: '[]', codes: ['BAD_REQUEST'] },
  { title: '1000 levels', body: `${'['.repeat(1000)}${']'.repeat(1000)}`, codes: ['BAD_REQUEST'] },
  { title: '__proto__', body: '{"__proto__":{"owner":true}}', codes: ['BAD_REQUEST'] },
  { title: 'constructor', body: '{"constructor":{"prototype":{"owner":true}}}', codes: ['BAD_REQUEST'] },
  { title: 'a name that is an object', body: '{"name":{"length":1}}', codes: ['BAD_REQUEST'] },
];

export const HTTP_ATTACKS: readonly Attack[] = [
  {
    name: 'internal-paths',
    rules: ['ERR-2'],
    run: (arena) =>
      each(
        INTERNAL,
        (path) => path,
        async (path) => {
          const request = `GET ${path} HTTP/1.1\r\nHost: ${new URL(arena.edge).host}\r\nConnection: close\r\n\r\n`;
          const { status, body } = await Bytes.exchange(arena.edge, arena.address(), request);
          if (SECRETS.test(body)) throw new Error(`answered ${status} with an internal page`);
          // Other paths are pages of the web application, which is the same for all of them.
          if (status === 200 && !body.includes('<!doctype html>'))
            throw new Error(`answered ${body.slice(0, 80)}`);
        },
      ),
  },
  {
    name: 'request-smuggling',
    rules: ['ERR-2'],
    run: (arena) =>
      each(
        SMUGGLED,
        ({ title }) => title,
        async ({ request }) => {
          const connection = new Bytes(arena.edge, arena.address());
          try {
            connection.write(request);
            const first = await connection.answer();
            if (first.status !== 0 && (first.status < 400 || first.status > 499) && first.status !== 501)
              throw new Error(`answered ${first.status}`);
            // A second answer would be one to what was hidden in the first request.
            await connection.ended(HIDDEN_ANSWER_MS).catch(() => {});
            if (connection.answers.some(({ status }) => status === 200))
              throw new Error('the hidden request was answered');
          } finally {
            connection.destroy();
          }
        },
      ),
  },
  {
    name: 'malformed-bodies',
    rules: ['LIM-7', 'ERR-2'],
    run: (arena) =>
      each(
        BODIES,
        ({ title }) => title,
        async ({ body, codes }) => {
          const answer = await ask(arena.edge, `/v1/rooms/${arena.room()}/join`, {
            from: arena.address(),
            body,
            headers: { 'content-type': 'application/json' },
          });
          expectOneOf(answer.code, codes);
        },
      ),
  },
  {
    name: 'header-bombs',
    rules: ['ERR-2'],
    run: (arena) =>
      each(
        [
          { title: 'one of 20 kB', headers: { 'x-a': 'x'.repeat(20_000) } },
          {
            title: 'three hundred',
            headers: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x-${at}`, 'x'])),
          },
        ],
        ({ title }) => title,
        async ({ headers }) => {
          const answer = await ask(arena.edge, '/v1/rooms/x', { from: arena.address(), headers });
          expectOneOf(answer.code, ['HEADERS_TOO_LARGE']);
        },
      ),
  },
  {
    name: 'overlong-urls',
    rules: ['ERR-2', 'ERR-4'],
    run: (arena) =>
      each(
        [
          `/v1/rooms/${'a'.repeat(150)}`,
          `/v1/rooms/${'a'.repeat(4000)}`,
          `/v1/rooms/${'%61'.repeat(200)}/join`,
          `/v1/${'x/'.repeat(500)}`,
        ],
        (path) => `${path.length} characters`,
        async (path) => {
          const { status, code } = await ask(arena.edge, path, { from: arena.address() });
          if (status < 400 || status > 499 || code === undefined || !isCode(code))
            throw new Error(`answered ${status} ${code}`);
        },
      ),
  },
  {
    name: 'slow-heads-and-bodies',
    rules: ['LIM-7'],
    async run(arena) {
      const slow = [
        dripping(arena, 'GET /healthz HTTP/1.1\r\nHost: x\r\n', 'X-A: b\r\n'),
        dripping(arena, post('Content-Length: 4000\r\n'), 'x'),
      ];
      // A head has 10 s, a body as long at a pod.
      const ended = await Promise.allSettled(slow.map(({ connection }) => connection.ended(20_000)));
      for (const { stop } of slow) stop();
      if (ended.some(({ status }) => status === 'rejected'))
        throw new Error('a connection stays that drips a byte a second');
      return 'closed';
    },
  },
  {
    name: 'cross-site-sockets',
    rules: ['STR-22'],
    run: (arena) => {
      const { host } = new URL(arena.edge);
      const origins = [
        'https://evil.example',
        'null',
        `http://${host}.evil.example`,
        `http://evil.example:${new URL(arena.edge).port}`,
        // Another scheme is another origin (RFC 6454), and an origin has no user.
        `ftp://${host}`,
        `http://user@${host}`,
      ];
      return each(
        origins.flatMap((origin) => [
          { origin, path: `/v1/rooms/${arena.room()}/socket` },
          { origin, path: '/v1/pages/socket' },
          { origin, path: '/streams/hostile' },
        ]),
        ({ origin, path }) => `${origin} at ${path}`,
        async ({ origin, path }) => {
          const opened = Bytes.webSocket(arena.edge, path, arena.address(), { origin });
          const answer = await opened.then(
            (socket) => {
              socket.destroy();
              return 'opened';
            },
            (error: Error) => error.message,
          );
          if (!answer.includes('403') || !answer.includes('ORIGIN_DENIED')) throw new Error(answer);
        },
      );
    },
  },
];

/** Sends a byte or a header a second until it is stopped. */
function dripping(arena: Arena, start: string, drop: string): { connection: Bytes; stop: () => void } {
  const connection = new Bytes(arena.edge, arena.address());
  connection.write(start);
  const timer = setInterval(() => connection.write(drop), 1000);
  return {
    connection,
    stop: () => {
      clearInterval(timer);
      connection.destroy();
    },
  };
}
