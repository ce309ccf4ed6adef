/** Media relays over NATS core: their leases, and the revocations that are sent to them. SPEC rules MEDIA-1, MEDIA-7, MEDIA-17. */
import type { RegionId } from '@parley/protocol/ids';
import { MediaRelay } from '@parley/protocol/media';
import { mediaRelaySubject, revokedSubject } from '@parley/protocol/subjects';
import type { NatsConnection } from '@nats-io/transport-node';
import type { MediaBus, MediaListener } from '../core/ports.ts';
import type { OnInvalid } from './nats-pod-bus.ts';
import { followLink } from './nats-connection.ts';
import { subscribeLeases } from './nats-leases.ts';

/** While NATS is disconnected nothing is received and nothing is sent. */
export function natsMedia(
  connection: NatsConnection,
  region: RegionId,
  listener: MediaListener,
  onInvalid: OnInvalid,
): MediaBus {
  const { canPublish } = followLink(connection);
  const source = {
    subject: mediaRelaySubject(region, '*'),
    kind: MediaRelay,
    owner: ({ relay }: MediaRelay) => relay,
  };
  subscribeLeases(connection, source, (relay) => listener.onRelay(relay), onInvalid);
  return {
    revoke(participant, untilS) {
      // A revocation is not queued for a restored link: the participant may have returned by then.
      if (!canPublish()) return;
      const entry = { sub: participant, before: Math.floor(Date.now() / 1000), until: untilS };
      connection.publish(revokedSubject, JSON.stringify({ revoked: [entry] }));
    },
  };
}
