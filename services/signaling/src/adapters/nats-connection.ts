/** The connection to NATS, set so that a dead link is found and redialled within 5 s. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { busTls } from '@parley/protocol/bus-tls';

export interface NatsOptions {
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** A file with the CAs that certify the servers (PEM). */
  readonly ca?: string | undefined;
  readonly name: string;
}

/** Resolves once connected; keeps trying, also at the start, so that pods and NATS may start in any order. */
export async function connectNats({
  servers,
  user,
  password,
  ca,
  name,
}: NatsOptions): Promise<NatsConnection> {
  const connection = await connect({
    servers: [...servers],
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...busTls(servers, ca),
    name,
    pingInterval: 1000,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 200,
    reconnectJitter: 300,
    reconnectJitterTLS: 300,
    timeout: 2000,
    // Messages that wait for a link to return are old by then; the roster heals itself.
    ignoreClusterUpdates: false,
  });
  void leaveLameDucks(connection);
  return connection;
}

/** A server that is told of a shutdown does not throw out all its pods at the same instant. */
const MOVE_WITHIN_MS = 500;

/** A server in lame duck mode takes no new connections and ends its old ones later, one by one: the pod goes while the choice is its own. */
async function leaveLameDucks(connection: NatsConnection): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type !== 'ldm') continue;
    const { server } = status;
    setTimeout(() => {
      // It may have moved for another reason by now.
      if (connection.getServer() === server) void connection.reconnect();
    }, Math.random() * MOVE_WITHIN_MS);
  }
}

/** Whether the server is there, as far as is known; `onBack` tells when it is there again. */
export interface Link {
  readonly isConnected: () => boolean;
  /** Whether what is published now goes out now. */
  readonly takes: () => boolean;
}

export function followLink(connection: NatsConnection, onBack: () => void = () => {}): Link {
  let up = true;
  const isConnected = (): boolean => up && !connection.isClosed();
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect' || status.type === 'staleConnection') up = false;
      if (status.type !== 'reconnect' || up) continue;
      up = true;
      onBack();
    }
  })();
  return { isConnected, takes: () => isConnected() && !connection.isDraining() };
}
