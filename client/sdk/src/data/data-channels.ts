/** The data channels to other participants, two for each at most, opened when first used. Each carries data in one direction. SPEC rule DATA-1. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Clock } from '../ports.ts';
import { LABEL, type Data } from './data.ts';

/** `null` where the two are not linked. */
export type OpenChannel = (
  to: ParticipantId,
  label: string,
  options: RTCDataChannelInit,
) => RTCDataChannel | null;

/** `reliable`: in order, and sent again where packets are lost. `lossy`: neither. */
export type ChannelKind = 'reliable' | 'lossy';

const KINDS = {
  reliable: { label: LABEL, options: { ordered: true } },
  lossy: { label: `${LABEL}-lossy`, options: { ordered: false, maxRetransmits: 0 } },
} as const;

/** A reader that is further behind gets no more. */
const MAX_BUFFERED_BYTES = 1_048_576;
/** A first channel takes a negotiation, which repairs lost signals within this time. */
const OPEN_MS = 5000;

export class DataChannels {
  readonly #clock: Clock;
  readonly #openChannel: OpenChannel;
  readonly #channels = new Map<string, RTCDataChannel>();

  constructor(clock: Clock, openChannel: OpenChannel) {
    this.#clock = clock;
    this.#openChannel = openChannel;
  }

  /** Whether it was sent; `undefined` without a channel, so that it takes another way. */
  async send(to: ParticipantId, data: Data, kind: ChannelKind): Promise<boolean | undefined> {
    const channel = this.#channel(to, kind);
    if (channel === undefined) return undefined;
    if (channel.readyState === 'connecting' && kind === 'reliable') await this.#opened(channel);
    if (channel.readyState !== 'open') return undefined;
    if (channel.bufferedAmount > MAX_BUFFERED_BYTES) return false;
    try {
      // One call per type, because the browser declares overloads.
      if (typeof data === 'string') channel.send(data);
      else channel.send(data);
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
  }

  #channel(to: ParticipantId, kind: ChannelKind): RTCDataChannel | undefined {
    const { label, options } = KINDS[kind];
    const name = `${to} ${label}`;
    const known = this.#channels.get(name);
    if (known !== undefined && known.readyState !== 'closing' && known.readyState !== 'closed') return known;
    this.#channels.delete(name);
    const channel = this.#openChannel(to, label, options);
    if (channel === null) return undefined;
    this.#channels.set(name, channel);
    channel.addEventListener('close', () => {
      if (this.#channels.get(name) === channel) this.#channels.delete(name);
    });
    return channel;
  }

  #opened(channel: RTCDataChannel): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(OPEN_MS, resolve);
      const done = (): void => {
        cancel();
        resolve();
      };
      for (const event of ['open', 'close', 'error']) channel.addEventListener(event, done, { once: true });
    });
  }
}
