/** The connection to NATS, configured so that a dead link is detected and replaced within 5 s. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { connectInTheEnd } from '@parley/protocol/bus-connect';
import { busTls } from '@parley/protocol/bus-tls';

export interface NatsOptions {
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** A file with the CAs that certify the servers (PEM). */
  readonly ca?: string | undefined;
  readonly name: string;
  /** Called while there is no first connection, with the reason. */
  readonly onUnreachable?: (reason: string) => void;
}

/** Resolves once connected. It retries without limit, also at the start, so that pods and NATS may start in any order. */
export async function connectNats({
  servers,
  user,
  password,
  ca,
  name,
  onUnreachable = () => {},
}: NatsOptions): Promise<NatsConnection> {
  const options = {
    servers: [...servers],
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...busTls(servers, ca),
    name,
    pingInterval: 1000,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    reconnectJitter: 300,
    reconnectJitterTLS: 300,
    timeout: 2000,
    // Messages are not queued for a restored link, as they would be outdated; the rosters converge without them.
    ignoreClusterUpdates: false,
  };
  const connection = await connectInTheEnd(() => connect(options), onUnreachable);
  // The client forgets servers that did not answer the first time.
  connection.setServers([...servers]);
  void leaveLameDucks(connection);
  return connection;
}

/** Spreads the reconnections, so that a server that shuts down does not lose all its pods at the same instant. */
const MOVE_SPREAD_MS = 500;

/**
 * A server in lame duck mode accepts no new connections and closes its existing ones later, one by one. The pod reconnects at a time of its choice.
 */
async function leaveLameDucks(connection: NatsConnection): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type !== 'ldm') continue;
    const { server } = status;
    setTimeout(() => {
      // It may have reconnected for another reason by now.
      if (connection.getServer() === server) void connection.reconnect();
    }, Math.random() * MOVE_SPREAD_MS);
  }
}

/** The state of the connection, as far as it is known; `onBack` is called when it is restored. */
export interface Link {
  readonly isConnected: () => boolean;
  /** Whether a message that is published now is sent now. */
  readonly canPublish: () => boolean;
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
  return { isConnected, canPublish: () => isConnected() && !connection.isDraining() };
}
