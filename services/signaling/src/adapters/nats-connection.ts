/** The connection to NATS, set so that a dead link is found and redialled within 5 s. */
import { connect, type NatsConnection } from '@nats-io/transport-node';

export interface NatsOptions {
  readonly servers: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly name: string;
}

/** Resolves once connected; keeps trying, also at the start, so that pods and NATS may start in any order. */
export function connectNats({ servers, user, password, name }: NatsOptions): Promise<NatsConnection> {
  return connect({
    servers: [...servers],
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    name,
    pingInterval: 1000,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 200,
    reconnectJitter: 300,
    timeout: 2000,
    // Messages that wait for a link to return are old by then; the roster heals itself.
    ignoreClusterUpdates: false,
  });
}
