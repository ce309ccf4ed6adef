/** Opens connections to relays with MoQ's library. */
import { Connection } from '@moq/net';
import Session from '@moq/qmux';
import type { Connect } from './transports.ts';

type RelayConnection = Awaited<ReturnType<typeof Connection.connect>>;

/** The versions of MoQ, best first, in the versions of QMux (draft-ietf-quic-qmux) that carry them over a WebSocket. */
const SUBPROTOCOLS = ['moq-lite-05', 'moq-lite-04'].flatMap((moq) =>
  ['qmux-02', 'qmux-01'].map((qmux) => `${qmux}.${moq}`),
);

/**
 * Over WebSocket the session is created here, on a plain socket: the library alone would take Chromium's WebSocketStream, in which the page crashed when
 * a relay was lost (Chromium 156; a null pointer where it rejects the promise of the closed stream).
 */
export const connect: Connect<RelayConnection> = async (url, { signal, ...options }) => {
  const socket = options.websocket?.url;
  if (socket === undefined) return Connection.connect(url, { ...options, signal });
  // The library's type asks for sockets that send from shared memory too, which it does not use.
  const plain = new WebSocket(socket, SUBPROTOCOLS) as unknown as ConstructorParameters<typeof Session>[0];
  const session = new Session(plain);
  const giveUp = (): void => session.close();
  signal.addEventListener('abort', giveUp);
  try {
    await session.ready;
    return await Connection.connect(url, { transport: session, signal });
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
};
