/** Media relays over NATS core: their leases, and the revocations and mutes that are sent to them. SPEC rules MEDIA-1, MEDIA-7, MEDIA-17, MEDIA-29. */
import type { RegionId } from '@parley/protocol/ids';
import { MediaRelay } from '@parley/protocol/media';
import { mediaRelaySubject, relayMutesSubject, revokedSubject } from '@parley/protocol/subjects';
import type { NatsConnection } from '@nats-io/transport-node';
import type { MediaBus, MediaListener } from '../core/ports.ts';
import type { OnInvalid } from './nats-pod-bus.ts';
import { followLink } from './nats-connection.ts';
import { subscribeLeases } from './nats-leases.ts';

/** `others`: regions whose relays may stand by. While NATS is disconnected nothing is received and nothing is sent. */
export function natsMedia(
  connection: NatsConnection,
  { region, others }: { readonly region: RegionId; readonly others: readonly RegionId[] },
  listener: MediaListener,
  onInvalid: OnInvalid,
): MediaBus {
  const { canPublish } = followLink(connection);
  const subscribe = (of: RegionId, onLease: (relay: MediaRelay) => void): void => {
    const subject = mediaRelaySubject(of, '*');
    const source = { subject, kind: MediaRelay, owner: ({ relay }: MediaRelay) => relay };
    subscribeLeases(connection, source, onLease, onInvalid);
  };
  subscribe(region, (relay) => listener.onRelay(relay));
  for (const other of others) subscribe(other, (relay) => listener.onFarRelay(other, relay));
  return {
    revoke({ participant, generation, untilS }) {
      // A revocation is not queued for a restored link: the participant may have resumed by then, with the same session.
      if (!canPublish()) return;
      const entry = { sub: participant, generation, until: untilS };
      connection.publish(revokedSubject, JSON.stringify({ revoked: [entry] }));
    },
    mute(mutes) {
      // As above: they are repeated, and one from before would overtake a change.
      if (canPublish()) connection.publish(relayMutesSubject, JSON.stringify(mutes));
    },
  };
}
