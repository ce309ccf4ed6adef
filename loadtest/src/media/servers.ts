/** Starts the measured servers: the relay as it is shipped, and the stock one; one alone, or two leaves around an origin. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@parley/local/free-port';
import { startNats } from '../nats.ts';
import { HOST, answers, pidOf, start, stop, until } from '../process.ts';
import { signed } from '../streams/relay.ts';
import { startLiveKit } from './livekit.ts';
import { STOCK_PROGRAM, type Row, type ServerName } from './plan.ts';
import type { Context, Server, StartOptions } from './server.ts';

/** One relay's process. */
interface Relay {
  readonly pid: number;
  /** Of its QUIC. */
  readonly port: number;
  readonly hash: string;
}

export async function startServer(
  name: ServerName,
  { relays, limits = [] }: Row,
  options: StartOptions,
): Promise<Server> {
  const { link } = options;
  const begun: ChildProcess[] = [];
  const context: Context = {
    ...options,
    host: link?.address ?? HOST,
    begun,
    begin: async (label, program, { args = [], env = {}, ready }) => {
      const child = start(program, args, { log: join(options.dir, `${label}.log`), env });
      begun.push(child);
      await until(ready, child, label);
      return pidOf(child, label);
    },
  };
  const close = async (): Promise<void> => void (await Promise.all(begun.map(stop)));
  if (name === 'livekit') {
    const { pid, generator } = await startLiveKit(context);
    return { pids: [pid], generator, close };
  }
  const { all, query } =
    name === 'parley' ? await startParley(relays, limits, context) : await startStock(relays, context);
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no relay was started');
  const address = ({ port }: Relay): string => `https://${context.host}:${port}/${query()}`;
  const place = link === undefined ? '' : `#${link.namespace}`;
  return {
    pids: all.map(({ pid }) => pid),
    generator: () => ({
      program: 'parley-load',
      args: [
        'media',
        '--json=-',
        `--relay=${address(last)}${place}`,
        `--publishers-relay=${address(first)}`,
        ...all.map(({ hash }) => `--hash=${hash}`),
      ],
    }),
    close,
  };
}

interface Started {
  /** The publishers' first, the watchers' last. */
  readonly all: readonly Relay[];
  /** What clients add to an address. */
  readonly query: () => string;
}

const AUDIENCE = 'parley:media';
const BROADCASTS = ['load/**'];
const TOKEN_SECONDS = 3600;

/** Default settings but for these limits, every client's token checked, certificates of its own; among others with a NATS of their own. */
async function startParley(
  relays: Row['relays'],
  limits: readonly string[],
  context: Context,
): Promise<Started> {
  const secret = randomBytes(32).toString('hex');
  const nats = relays === 1 ? undefined : await startNats(context.dir);
  if (nats !== undefined) context.begun.push(nats.child);
  const one = (label: string, role: 'origin' | 'leaf'): Promise<Relay> =>
    startParleyRelay(label, context, { secret, nats: nats?.url, role, limits });
  const roles = relays === 1 ? (['origin'] as const) : (['leaf', 'origin', 'leaf'] as const);
  const all: Relay[] = [];
  for (const [at, role] of roles.entries()) all.push(await one(`parley-${relays}-${at}`, role));
  const query = (): string => {
    const now = Math.floor(Date.now() / 1000);
    const lists = { publish: BROADCASTS, subscribe: BROADCASTS };
    return `?jwt=${signed({ aud: AUDIENCE, iat: now, exp: now + TOKEN_SECONDS, ...lists }, secret)}`;
  };
  if (nats !== undefined) await delay(LINKED_MS);
  return { all, query };
}

/** Leases, and the links made from them, exist after this time. */
const LINKED_MS = 1500;

interface ParleyRelay {
  readonly secret: string;
  readonly nats: string | undefined;
  readonly role: 'origin' | 'leaf';
  readonly limits: readonly string[];
}

async function startParleyRelay(
  label: string,
  { begin, dir, host, programs }: Context,
  { secret, nats, role, limits }: ParleyRelay,
): Promise<Relay> {
  const [port, web, link] = [await freePort(), await freePort(), await freePort()];
  const certificates = join(dir, `${label}-${port}`);
  const cluster = {
    PARLEY_RELAY_NATS: nats ?? '',
    PARLEY_RELAY_POD: label,
    PARLEY_RELAY_LINK_LISTEN: `${HOST}:${link}`,
    PARLEY_RELAY_MEDIA_ROLE: role,
  };
  const pid = await begin(label, join(programs, 'parley-relay'), {
    args: limits.map((limit) => `--limit=${limit}`),
    env: {
      PARLEY_RELAY_LISTEN: `${HOST}:${web}`,
      PARLEY_RELAY_MEDIA_LISTEN: `${host}:${port}`,
      PARLEY_RELAY_MEDIA_URL: `https://${host}:${port}/`,
      PARLEY_RELAY_MEDIA_CERTIFICATE_DIR: certificates,
      PARLEY_RELAY_ACCESS: 'token',
      PARLEY_RELAY_TOKEN_SECRET: secret,
      ...(nats === undefined ? {} : cluster),
    },
    ready: () => answers(`http://${HOST}:${web}/readyz`),
  });
  const pem = readFileSync(join(certificates, 'current/relay.pem'), 'utf8');
  return { pid, port, hash: base64(new X509Certificate(pem).fingerprint256) };
}

/** Open to all clients, and without limits. */
async function startStock(relays: Row['relays'], context: Context): Promise<Started> {
  if (relays === 1) return { all: [await startStockRelay('stock', context, [])], query: () => '' };
  const origin = await startStockRelay('stock-origin', context, []);
  const up = [`--cluster-connect=https://localhost:${origin.port}/`];
  const one = await startStockRelay('stock-leaf-1', context, up);
  const other = await startStockRelay('stock-leaf-2', context, up);
  return { all: [one, origin, other], query: () => '' };
}

async function startStockRelay(
  label: string,
  { begin, host, programs }: Context,
  more: readonly string[],
): Promise<Relay> {
  const port = await freePort();
  const web = `http://${HOST}:${port}/certificate.sha256`;
  const args = [
    `--listen=${host}:${port}`,
    `--listen-tls-generate=localhost,${HOST}`,
    `--web-http-listen=${HOST}:${port}`,
    '--auth-public=**',
    '--connect-tls-insecure=true',
    `--cluster-node=https://localhost:${port}/`,
    '--cluster-tier=peer',
    '--log-level=warn',
    ...more,
  ];
  const pid = await begin(label, join(programs, STOCK_PROGRAM), { args, ready: () => answers(web) });
  return { pid, port, hash: base64(await (await fetch(web)).text()) };
}

const base64 = (hex: string): string => Buffer.from(hex.replaceAll(':', '').trim(), 'hex').toString('base64');
