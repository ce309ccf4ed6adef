/** Pages over NATS core. SPEC rules PAGE-10 to PAGE-12. */
import { decodePageBusMessage } from '@parley/protocol/decode';
import type { PodId } from '@parley/protocol/ids';
import {
  pageSubject,
  pagesHeartbeatSubject,
  podPagesSubject,
  podVisitorDirectedSubject,
} from '@parley/protocol/subjects';
import type { NatsConnection } from '@nats-io/transport-node';
import type { PageBus, PageListener } from '../core/ports.ts';
import { followLink } from './nats-connection.ts';
import { natsPodBus, type OnInvalid } from './nats-pod-bus.ts';

/** The bus ends with the connection, which it shares with others. */
export function natsPages(
  connection: NatsConnection,
  pod: PodId,
  listener: PageListener,
  onInvalid: OnInvalid,
): PageBus {
  const link = followLink(connection, () => listener.onBack());
  const subjects = {
    heartbeats: pagesHeartbeatSubject,
    topic: pageSubject,
    pod: podPagesSubject,
    directed: podVisitorDirectedSubject,
    decode: decodePageBusMessage,
  };
  return natsPodBus({ connection, link, pod, subjects, listener, onInvalid });
}
