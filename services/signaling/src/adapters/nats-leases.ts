/** Leases over NATS core, as JSON of one kind. SPEC rules MEDIA-1 and TURN-5. */
import { decode } from '@parley/protocol/decode';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Static, TSchema } from 'typebox';
import type { OnInvalid } from './nats-pod-bus.ts';

export interface Source<Kind extends TSchema> {
  readonly subject: string;
  readonly kind: Kind;
  /** The holder of the lease, where the subject ends with its name: NATS permits no other client to publish there. */
  readonly owner?: (lease: Static<Kind>) => string;
}

/** While NATS is disconnected no leases arrive. */
export function subscribeLeases<Kind extends TSchema>(
  connection: NatsConnection,
  { subject, kind, owner }: Source<Kind>,
  onLease: (lease: Static<Kind>) => void,
  onInvalid: OnInvalid,
): void {
  connection.subscribe(subject, {
    callback(error, message) {
      if (error !== null) return;
      const decoded = decode(kind, parsed(message.string()));
      if (!decoded.ok) onInvalid(message.subject, decoded.reason);
      else if (owner !== undefined && !message.subject.endsWith(`.${owner(decoded.message)}`))
        onInvalid(message.subject, 'the lease of another');
      else onLease(decoded.message);
    },
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
