/** WebTransport or WebSocket: whichever connects, with a head start for the first, and the caller knows which it was. */

/** As the service answers it (MEDIA-6). */
export interface Relay {
  readonly url: string;
  readonly token: string;
  /** SHA-256, base64; empty where a public CA signed the certificate. */
  readonly certificateHashes: readonly string[];
}

export type Transport = 'WebTransport' | 'WebSocket';

/** Of the libraries' connections, what is used here. */
export interface Connection {
  readonly closed: Promise<void>;
  /** Resolved when the relay says GOAWAY; made by whoever comes first, the library or who wants to know. */
  goneAway?: PromiseWithResolvers<void>;
  close(): void;
}

export interface ConnectOptions {
  readonly webtransport?: {
    readonly serverCertificateHashes?: { algorithm: 'sha-256'; value: Uint8Array<ArrayBuffer> }[];
    readonly serverCertificate?: string;
  };
  readonly websocket?: { readonly enabled?: boolean; readonly url?: URL; readonly delay?: number };
  /** Ends the attempt. A socket that hangs would be in the way of the next one: browsers open one at a time to each address. */
  readonly signal: AbortSignal;
}

export type Connect<Kind extends Connection> = (url: URL, options: ConnectOptions) => Promise<Kind>;

export interface Opened<Kind extends Connection> {
  readonly transport: Transport;
  readonly connection: Kind;
}

/** A network that swallows UDP says nothing: after this WebSocket is tried as well. */
const HEAD_START_MS = 1500;
/** Not even a slow phone takes longer; another relay may be the better one. */
const GIVE_UP_MS = 10_000;
/** The libraries take no WebTransport that is to be pinned to this: it is no certificate. */
const NO_CERTIFICATE = '';

export function relayUrl({ url, token }: Relay): URL {
  const found = new URL(url);
  found.searchParams.set('jwt', token);
  return found;
}

/** The edge leads a WebSocket of the service's origin to the relay. */
export function fallbackUrl({ url, token }: Relay, origin: string): URL {
  const found = new URL('/media', origin);
  found.protocol = found.protocol === 'https:' ? 'wss:' : 'ws:';
  found.searchParams.set('at', new URL(url).host);
  found.searchParams.set('jwt', token);
  return found;
}

/** Empty where the certificate is signed by a public CA. */
export function pinned({ certificateHashes }: Relay): ConnectOptions['webtransport'] & object {
  if (certificateHashes.length === 0) return {};
  return {
    serverCertificateHashes: certificateHashes.map((hash) => ({
      algorithm: 'sha-256',
      value: Uint8Array.from(atob(hash), (char) => char.charCodeAt(0)),
    })),
  };
}

/** `origin`: the service's. The libraries race the two themselves, but the older of them does not tell which has won. */
export async function openRelay<Kind extends Connection>(
  connect: Connect<Kind>,
  relay: Relay,
  origin: string,
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
  const slow = Promise.race([quick.catch(() => null), pause(HEAD_START_MS)]).then(() => {
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

/** How long a session lasts that begins now, as the token says (MEDIA-5). It counts from its own beginning: this clock may be wrong. */
export function sessionMs({ token }: Relay): number | null {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { iat, exp } = JSON.parse(atob(payload)) as { readonly iat: number; readonly exp: number };
    return exp > iat ? (exp - iat) * 1000 : null;
  } catch {
    return null;
  }
}
