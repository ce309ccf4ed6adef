import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Address {
  readonly host: string;
  readonly port: number;
}

// Below the ports that Linux gives to connections and to listeners that accept any port (32768 and up): no process takes the port while its server is
// stopped, not even a client that dials it.
const FIRST_PORT = 18_000;
const LAST_PORT = 31_999;

/**
 * A port of 127.0.0.1 without a listener, for a server that a test is about to start. No other process that asks gets it until this one has ended, as
 * seconds may pass before the server listens. `except`: ports that it is not to be.
 */
export async function freePort(except: ReadonlySet<number> = new Set()): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
    if (except.has(port) || !(await reserve(port))) continue;
    const here = { host: '127.0.0.1', port };
    if ((await tcpProblem(here)) === undefined && (await udpProblem(here)) === undefined) return port;
  }
}

/** Linux frees an abstract socket with its process, also after `kill -9`; the null byte makes it abstract. */
async function reserve(port: number): Promise<boolean> {
  const reservation = createServer().unref();
  reservation.listen(`\0parley-test-port-${port}`);
  return once(reservation, 'listening').then(
    () => true,
    () => false,
  );
}

/** Why nothing can listen there, as the code of the error; `undefined` where something can. */
export async function tcpProblem({ host, port }: Address): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    await once(server.close(), 'close');
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

/** As `tcpProblem`. */
export async function udpProblem({ host, port }: Address): Promise<string | undefined> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    socket.bind({ port, address: host, exclusive: true });
    await once(socket, 'listening');
    return undefined;
  } catch (error) {
    return codeOf(error);
  } finally {
    socket.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
