/** The connection to NATS, which may be disconnected at any time, also at the start: the node continues and reconnects. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { connectInTheEnd } from '@parley/protocol/bus-connect';
import { busTls } from '@parley/protocol/bus-tls';
import type { LeaseBus } from './lease.ts';
import { log } from './log.ts';

const FLUSH_TIMEOUT_MS = 1000;
// The delay is as long as NATS has been disconnected, within these bounds, and random, so that nodes do not all reconnect at once.
const MIN_RETRY_MS = 200;
const MAX_RETRY_MS = 5000;

export interface NatsSettings {
  readonly servers: readonly string[];
  readonly user: string;
  readonly password: string | undefined;
  /** A file with the CAs that certify the servers (PEM). */
  readonly ca?: string | undefined;
}

export function openNats({ servers, user, password, ca }: NatsSettings, name: string): LeaseBus {
  let connection: NatsConnection | undefined;
  let up = false;
  let disconnectedSince = Date.now();
  const follow = async (): Promise<void> => {
    const options = {
      servers: [...servers],
      user,
      ...(password === undefined ? {} : { pass: password }),
      ...busTls(servers, ca),
      name,
      pingInterval: 1000,
      maxPingOut: 2,
      timeout: 2000,
      maxReconnectAttempts: -1,
      // The node may have a new password before the servers do, so a refused password is tried again.
      ignoreAuthErrorAbort: true,
      reconnectDelayHandler: () =>
        MIN_RETRY_MS + Math.random() * Math.min(MAX_RETRY_MS, Date.now() - disconnectedSince),
    };
    const opened = await connectInTheEnd(
      () => connect(options),
      (reason) => log('NATS is not reached', { reason }),
    );
    // The client forgets servers that did not answer the first time.
    opened.setServers([...servers]);
    connection = opened;
    up = true;
    for await (const status of opened.status()) {
      if (status.type === 'error') log('NATS refuses', { error: status.error.message });
      if (status.type === 'reconnect') up = true;
      if (status.type !== 'disconnect' && status.type !== 'staleConnection') continue;
      if (up) disconnectedSince = Date.now();
      up = false;
    }
  };
  follow().catch((error: unknown) => log('NATS cannot be used', { error: String(error) }));
  return {
    publish(subject, text) {
      if (!up || connection === undefined || connection.isClosed()) return false;
      connection.publish(subject, text);
      return true;
    },
    async flush() {
      if (!up) return;
      const late = new Promise((resolve) => setTimeout(resolve, FLUSH_TIMEOUT_MS).unref());
      await Promise.race([connection?.flush(), late]).catch(() => undefined);
    },
    async close() {
      await connection?.close();
    },
  };
}
