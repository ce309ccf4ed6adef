/** What others say of themselves over NATS core, as JSON of one kind. SPEC rules MEDIA-1 and TURN-5. */
import { decode } from '@parley/protocol/decode';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Static, TSchema } from 'typebox';
import type { OnBad } from './nats-bus.ts';

export interface Source<Kind extends TSchema> {
  readonly subject: string;
  readonly kind: Kind;
}

/** While NATS is away nothing is heard. */
export function hearLeases<Kind extends TSchema>(
  connection: NatsConnection,
  { subject, kind }: Source<Kind>,
  onSaid: (said: Static<Kind>) => void,
  onBad: OnBad,
): void {
  connection.subscribe(subject, {
    callback(error, message) {
      if (error !== null) return;
      const decoded = decode(kind, parsed(message.string()));
      if (decoded.ok) onSaid(decoded.message);
      else onBad(message.subject, decoded.why);
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
