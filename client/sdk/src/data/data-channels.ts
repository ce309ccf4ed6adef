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
export type ChannelKind = keyof typeof LABEL;

const OPTIONS: Readonly<Record<ChannelKind, RTCDataChannelInit>> = {
  reliable: { ordered: true },
  lossy: { ordered: false, maxRetransmits: 0 },
};

/** A reader that is further behind gets no more. */
export const MAX_BEHIND_BYTES = 1_048_576;
/** A first channel takes a negotiation, which repairs lost signals within this time. */
const OPEN_MS = 5000;
/** The other side refused a channel: another one is not tried before. */
const REFUSED_MS = 30_000;

interface Opening {
  readonly channel: RTCDataChannel;
  readonly begunAt: number;
  /** It is open, closed, or not open in time. */
  readonly decided: Promise<void>;
  wasOpen: boolean;
}

export class DataChannels {
  readonly #clock: Clock;
  readonly #openChannel: OpenChannel;
  readonly #openings = new Map<string, Opening>();

  constructor(clock: Clock, openChannel: OpenChannel) {
    this.#clock = clock;
    this.#openChannel = openChannel;
  }

  /** Whether it was sent; `undefined` without a channel, so that it takes another way. */
  async send(to: ParticipantId, data: Data, kind: ChannelKind): Promise<boolean | undefined> {
    const opening = this.#opening(to, kind);
    if (opening === undefined) return undefined;
    const { channel, decided } = opening;
    if (channel.readyState === 'connecting' && kind === 'reliable') await decided;
    if (channel.readyState !== 'open') return undefined;
    if (channel.bufferedAmount > MAX_BEHIND_BYTES) return false;
    // One call per type, because the browser declares overloads.
    if (typeof data === 'string') channel.send(data);
    else channel.send(data);
    return true;
  }

  close(): void {
    for (const { channel } of this.#openings.values()) channel.close();
    this.#openings.clear();
  }

  #opening(to: ParticipantId, kind: ChannelKind): Opening | undefined {
    const name = `${to} ${kind}`;
    const known = this.#openings.get(name);
    if (known !== undefined && !isOver(known)) return known;
    this.#forgetOver();
    // Those that are over and were refused a short time ago.
    if (this.#openings.has(name)) return undefined;
    const channel = this.#openChannel(to, LABEL[kind], OPTIONS[kind]);
    if (channel === null) return undefined;
    const begun: Opening = {
      channel,
      begunAt: this.#clock.now(),
      decided: this.#decided(channel),
      wasOpen: false,
    };
    channel.addEventListener('open', () => (begun.wasOpen = true));
    this.#openings.set(name, begun);
    return begun;
  }

  #forgetOver(): void {
    const now = this.#clock.now();
    for (const [name, opening] of this.#openings)
      if (isOver(opening) && (opening.wasOpen || now - opening.begunAt > REFUSED_MS))
        this.#openings.delete(name);
  }

  #decided(channel: RTCDataChannel): Promise<void> {
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

const isOver = ({ channel }: Opening): boolean =>
  channel.readyState === 'closing' || channel.readyState === 'closed';
