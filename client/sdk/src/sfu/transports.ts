/** Connects by WebTransport or WebSocket, with a head start for WebTransport, and reports which one connected. */

/** The relay in the answer of the service (MEDIA-6). */
export interface Relay {
  readonly url: string;
  readonly token: string;
  /** SHA-256, base64; empty if a public CA signed the certificate. */
  readonly certificateHashes: readonly string[];
  /** The origin of the service that leads to it, where that is another one than usual. */
  readonly api?: string;
}

export type Transport = 'WebTransport' | 'WebSocket';

/** The parts of the libraries' connections that are used here. */
export interface Connection {
  readonly closed: Promise<void>;
  /** Resolved when the relay sends GOAWAY. The library and the reader share it; the first of them creates it. */
  goaway?: PromiseWithResolvers<void>;
  close(): void;
}

export interface ConnectOptions {
  readonly webtransport?: {
    readonly serverCertificateHashes?: { algorithm: 'sha-256'; value: Uint8Array<ArrayBuffer> }[];
    readonly serverCertificate?: string;
  };
  readonly websocket?: { readonly enabled?: boolean; readonly url?: URL; readonly delay?: number };
  /** Ends the attempt. A hanging socket would block the next one: browsers open one at a time to each address. */
  readonly signal: AbortSignal;
}

export type Connect<Kind extends Connection> = (url: URL, options: ConnectOptions) => Promise<Kind>;

export interface Opened<Kind extends Connection> {
  readonly transport: Transport;
  readonly connection: Kind;
}

/** A network that drops UDP gives no error: after this time WebSocket is tried too. */
const HEAD_START_MS = 1500;
/** Where the last connection was a WebSocket, the network most likely drops UDP still. */
const SHORT_HEAD_START_MS = 200;
/** Even a slow phone does not take longer; another relay may be better. */
const GIVE_UP_MS = 10_000;
/** The libraries reject a WebTransport connection that is pinned to this value, because it is no certificate hash. */
const NO_CERTIFICATE = '';

export function relayUrl({ url, token }: Relay): URL {
  const found = new URL(url);
  found.searchParams.set('jwt', token);
  return found;
}

/** The edge forwards a WebSocket of the service's origin to the relay. */
export function fallbackUrl({ url, token }: Relay, origin: string): URL {
  const found = new URL('/media', origin);
  found.protocol = found.protocol === 'https:' ? 'wss:' : 'ws:';
  found.searchParams.set('at', new URL(url).host);
  found.searchParams.set('jwt', token);
  return found;
}

/** Empty if a public CA signed the certificate. */
export function pinned({ certificateHashes }: Relay): ConnectOptions['webtransport'] & object {
  if (certificateHashes.length === 0) return {};
  return {
    serverCertificateHashes: certificateHashes.map((hash) => ({
      algorithm: 'sha-256',
      value: Uint8Array.from(atob(hash), (char) => char.charCodeAt(0)),
    })),
  };
}

/** `origin`: that of the service. `last`: how the last connection opened, if there was one. The libraries race the two transports too, but the older one does not report which won. */
export async function openRelay<Kind extends Connection>(
  connect: Connect<Kind>,
  relay: Relay,
  origin: string,
  last?: Transport,
): Promise<Opened<Kind>> {
  const url = relayUrl(relay);
  const attempt = new AbortController();
  const { signal } = attempt;
  let over = false;
  const claim =
    (transport: Transport) =>
    (connection: Kind): Opened<Kind> => {
      if (over) {
        connection.close();
        throw new Error('the other one was quicker');
      }
      over = true;
      return { transport, connection };
    };

  const quick =
    'WebTransport' in globalThis
      ? connect(url, { webtransport: pinned(relay), websocket: { enabled: false }, signal })
      : Promise.reject(new Error('this browser has no WebTransport'));
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const pause = (ms: number) => new Promise<void>((resolve) => timers.add(setTimeout(resolve, ms)));
  const headStartMs = last === 'WebSocket' ? SHORT_HEAD_START_MS : HEAD_START_MS;
  const slow = Promise.race([quick.catch(() => null), pause(headStartMs)]).then(() => {
    if (over) throw new Error('the other one was quicker');
    return connect(url, {
      webtransport: { serverCertificate: NO_CERTIFICATE },
      websocket: { url: fallbackUrl(relay, origin), delay: 0 },
      signal,
    });
  });
  try {
    return await Promise.race([
      Promise.any([quick.then(claim('WebTransport')), slow.then(claim('WebSocket'))]),
      pause(GIVE_UP_MS).then(() => Promise.reject(new Error('neither way connected in time'))),
    ]);
  } finally {
    over = true;
    attempt.abort();
    for (const timer of timers) clearTimeout(timer);
  }
}

/** How long a session that begins now lasts, from the token (MEDIA-5). The result is a duration, because this device's clock may be wrong. */
export function sessionMs({ token }: Relay): number | null {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { iat, exp } = JSON.parse(atob(payload)) as { readonly iat: number; readonly exp: number };
    return exp > iat ? (exp - iat) * 1000 : null;
  } catch {
    return null;
  }
}
