/** A visitor that speaks the protocol and is not the SDK: it answers offers, makes offers, and sends what the test chooses on a connection. */
import { decodeLinkMessage, decodePeerMessage } from '@parley/protocol/decode';
import type { LinkMessage, PeerMessage } from '@parley/protocol/pages-peer';
import type { VisitorMessage } from '@parley/protocol/pages';
import type { FakeChannel, FakeConnection } from './connections.ts';
import type { Site } from './site.ts';

export interface Rogue {
  readonly site: Site;
  /** The visitor id, after the welcome. */
  id: string;
  /** Messages of other visitors to it through the service. */
  readonly received: LinkMessage[];
  /** The opened connections. */
  readonly channels: FakeChannel[];
  send(message: VisitorMessage): void;
  sendTo(to: string, message: LinkMessage): void;
  /** Offers a page to a visitor. */
  offer(to: string, page: string, link: string): FakeConnection;
}

export interface Conduct {
  /** An offer arrived. `true`: answer it as the SDK does; `false`: do not answer. */
  readonly onOffer?: (from: string, message: LinkMessage, rogue: Rogue) => boolean;
  readonly onOpen?: (channel: FakeChannel) => void;
  readonly onMessage?: (message: PeerMessage, channel: FakeChannel) => void;
}

export async function rogue(site: Site, name: string, conduct: Conduct = {}): Promise<Rogue> {
  const connections = new Map<string, FakeConnection>();
  const watch = (channel: FakeChannel): void => {
    const opened = (): void => {
      self.channels.push(channel);
      conduct.onOpen?.(channel);
    };
    channel.addEventListener('open', opened);
    channel.addEventListener('message', (event) => {
      const { data } = event as MessageEvent<unknown>;
      const decoded = typeof data === 'string' ? decodePeerMessage(data) : undefined;
      if (decoded?.ok) conduct.onMessage?.(decoded.message, channel);
    });
  };
  const receive = async (from: string, message: LinkMessage): Promise<void> => {
    self.received.push(message);
    if (message.type === 'answer') {
      await connections.get(message.link)?.setRemoteDescription({ sdp: message.sdp });
    }
    if (message.type !== 'offer' || conduct.onOffer?.(from, message, self) === false) return;
    const connection = site.connection(name);
    connection.addEventListener('datachannel', (event) =>
      watch((event as unknown as { channel: FakeChannel }).channel),
    );
    await connection.setRemoteDescription({ sdp: message.sdp });
    await connection.setLocalDescription();
    self.sendTo(from, { type: 'answer', link: message.link, sdp: connection.localDescription?.sdp ?? '' });
  };
  const socket = site.enter(name, {
    onOpen: () => undefined,
    onBinary: () => undefined,
    onClose: () => undefined,
    onText: (text) => {
      const directed = /^<(\S{17})\n/.exec(text);
      if (directed !== null) {
        const decoded = decodeLinkMessage(text.slice(directed[0].length));
        if (decoded.ok) void receive(directed[1] ?? '', decoded.message);
        return;
      }
      const message = JSON.parse(text) as { type: string; visitor?: string };
      if (message.type === 'welcome') self.id = message.visitor ?? '';
    },
  });
  const self: Rogue = {
    site,
    id: '',
    received: [],
    channels: [],
    send: (message) => socket.send(JSON.stringify(message)),
    sendTo: (to, message) => socket.send(`>${to} ${message.link}.r\n${JSON.stringify(message)}`),
    offer: (to, page, link) => {
      const connection = site.connection(name);
      watch(connection.createDataChannel('parley-page'));
      void connection.setLocalDescription();
      self.sendTo(to, { type: 'offer', link, page, sdp: connection.localDescription?.sdp ?? '' });
      connections.set(link, connection);
      return connection;
    },
  };
  await site.clock.until(() => self.id !== '', 1000);
  return self;
}

export const speak = (channel: FakeChannel, message: PeerMessage): void =>
  channel.send(JSON.stringify(message));

/** A chunk as it is sent. */
export function chunkMessage(chunk: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(4 + bytes.length);
  new DataView(message.buffer).setUint32(0, chunk);
  message.set(bytes, 4);
  return message;
}
