import type { Transport } from '@parley/sdk/sfu/transports';

const WHY: Readonly<Record<Transport, string>> = {
  WebTransport: 'Straight to the video server over QUIC',
  WebSocket: 'By the way that passes every network, a little slower',
};

/** The transport of the media. */
export function TransportTag({ transport }: { readonly transport: Transport }) {
  return (
    <p class="live-transport" title={WHY[transport]} data-testid="transport" data-transport={transport}>
      {transport}
    </p>
  );
}
