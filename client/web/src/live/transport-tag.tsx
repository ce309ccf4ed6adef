import type { Transport } from '@parley/sdk/sfu/transports';

const DESCRIPTIONS: Readonly<Record<Transport, string>> = {
  WebTransport: 'Directly to the media relay over QUIC',
  WebSocket: 'Over TCP, which also works where QUIC is blocked, with a little more delay',
};

/** The transport of the media. */
export function TransportTag({ transport }: { readonly transport: Transport }) {
  return (
    <p
      class="live-transport"
      title={DESCRIPTIONS[transport]}
      data-testid="transport"
      data-transport={transport}
    >
      {transport}
    </p>
  );
}
