/** Media relays over NATS core: what they say of themselves, and whom they are to send away. SPEC rules MEDIA-1, MEDIA-7. */
import { decode } from '@parley/protocol/decode';
import type { RegionId } from '@parley/protocol/ids';
import { MediaRelay } from '@parley/protocol/media';
import { mediaRelaySubject, revokedSubject } from '@parley/protocol/subjects';
import type { NatsConnection } from '@nats-io/transport-node';
import type { MediaBus, MediaListener } from '../core/ports.ts';
import type { OnBad } from './nats-bus.ts';
import { followLink } from './nats-connection.ts';

/** While NATS is away nothing is heard and nothing is said. */
export function natsMedia(
  connection: NatsConnection,
  region: RegionId,
  listener: MediaListener,
  onBad: OnBad,
): MediaBus {
  const { takes } = followLink(connection);
  connection.subscribe(mediaRelaySubject(region), {
    callback(error, message) {
      if (error !== null) return;
      const decoded = decode(MediaRelay, parsed(message.string()));
      if (decoded.ok) listener.onRelay(decoded.message);
      else onBad(message.subject, decoded.why);
    },
  });
  return {
    revoke(participant, untilS) {
      // What would wait for the link's return is old by then: who it means may be back.
      if (!takes()) return;
      const entry = { sub: participant, before: Math.floor(Date.now() / 1000), until: untilS };
      connection.publish(revokedSubject, JSON.stringify({ revoked: [entry] }));
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
