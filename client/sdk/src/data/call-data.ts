/**
 * Sends the data of an application to other participants: over data channels where media goes from peer to peer, otherwise through the service. Loaded when an
 * application first sends or listens. SPEC rules DATA-1 to DATA-3.
 */
import type { ParticipantId } from '@parley/protocol/ids';
import type { DataSignal } from '../mesh/payload.ts';
import { Pace } from '../net/pace.ts';
import { fromBase64, toBase64 } from '../pages/base64.ts';
import type { Clock, Random } from '../ports.ts';
import { MAX_DATA_BYTES, type Data } from './data.ts';
import { DataChannels, MAX_BEHIND_BYTES, type ChannelKind, type OpenChannel } from './data-channels.ts';
import { DataSeal } from './data-seal.ts';

const MESSAGES = { burst: 60, perSecond: 20 };
const BYTES = { burst: 262_144, perSecond: 65_536 };
/** More than a room has participants. */
const MAX_SENDERS = 4000;

export interface CallDataOptions {
  readonly room: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly subtle: SubtleCrypto;
  readonly me: () => ParticipantId | null;
  /** The end-to-end key of the room's link. */
  readonly secret: () => string | null;
  readonly openChannel: OpenChannel;
  /** `false`: not sent. */
  readonly sendSignal: (to: ParticipantId, signal: DataSignal) => boolean;
  readonly onData: (from: ParticipantId, data: Data) => void;
}

export class CallData {
  readonly #options: CallDataOptions;
  readonly #channels: DataChannels;
  readonly #messagePace: Pace;
  readonly #bytePace: Pace;
  readonly #seal: DataSeal;
  /** The last reliable message to each participant, after which the next one is sent, and the bytes of all that wait. */
  readonly #tails = new Map<ParticipantId, { last: Promise<boolean>; bytes: number }>();
  /** The last message through the service. */
  #leaving: Promise<unknown> = Promise.resolve();
  #arriving: Promise<void> = Promise.resolve();
  /** Above those of this participant's earlier pages. */
  #number: number;
  readonly #numbers = new Map<ParticipantId, number>();

  constructor(options: CallDataOptions) {
    const { clock, random, subtle, room, openChannel } = options;
    this.#options = options;
    this.#channels = new DataChannels(clock, openChannel);
    this.#messagePace = new Pace(clock, MESSAGES);
    this.#bytePace = new Pace(clock, BYTES);
    this.#seal = new DataSeal({ subtle, random, room });
    this.#number = 1000 * clock.wall();
  }

  /** Returns those to whom it was sent. */
  async send(to: readonly ParticipantId[], data: Data, kind: ChannelKind): Promise<ParticipantId[]> {
    const sent = await Promise.all(
      to.map(async (one) => ((await this.#sendTo(one, data, kind)) ? [one] : [])),
    );
    return sent.flat();
  }

  /** What another participant sent through the service. Resolves when it was passed on, or dropped. */
  receive(from: ParticipantId, signal: DataSignal): Promise<void> {
    this.#arriving = this.#arriving.then(async () => this.#open(from, signal)).catch(() => undefined);
    return this.#arriving;
  }

  close(): void {
    this.#channels.close();
  }

  #sendTo(to: ParticipantId, data: Data, kind: ChannelKind): Promise<boolean> {
    if (kind === 'lossy') return this.#pass(to, data, kind);
    const tail = this.#tails.get(to) ?? { last: Promise.resolve(true), bytes: 0 };
    if (tail.bytes > MAX_BEHIND_BYTES) return Promise.resolve(false);
    // One more, so that it is zero only where none waits.
    const bytes = data.length + 1;
    tail.bytes += bytes;
    tail.last = tail.last.then(async () => {
      const sent = await this.#pass(to, data, kind);
      tail.bytes -= bytes;
      if (tail.bytes === 0) this.#tails.delete(to);
      return sent;
    });
    this.#tails.set(to, tail);
    return tail.last;
  }

  async #pass(to: ParticipantId, data: Data, kind: ChannelKind): Promise<boolean> {
    try {
      return (await this.#channels.send(to, data, kind)) ?? (await this.#throughService(to, data));
    } catch {
      // The browser refused a channel or its data, or the end-to-end key is none.
      return false;
    }
  }

  /** One after the other, as a reader drops a message that a later one has overtaken. */
  #throughService(to: ParticipantId, data: Data): Promise<boolean> {
    const sent = this.#leaving.then(async () => this.#signal(to, data));
    this.#leaving = sent.catch(() => undefined);
    return sent;
  }

  async #signal(to: ParticipantId, data: Data): Promise<boolean> {
    const { me, secret, sendSignal } = this.#options;
    const from = me();
    const text = typeof data === 'string';
    const bytes = text ? new TextEncoder().encode(data) : data;
    if (from === null || !this.#messagePace.allows() || !this.#bytePace.allows(bytes.length)) return false;
    this.#messagePace.take();
    this.#bytePace.take(bytes.length);
    this.#number += 1;
    const number = this.#number;
    const key = secret();
    const sent = key === null ? bytes : await this.#seal.seal(key, bytes, { from, to, number, text });
    return sendSignal(to, { type: 'data', number, text, sealed: key !== null, data: toBase64(sent) });
  }

  async #open(from: ParticipantId, { number, text, sealed, data }: DataSignal): Promise<void> {
    const { me, secret, onData } = this.#options;
    const to = me();
    const key = secret();
    const sent = fromBase64(data);
    if (to === null || sent === undefined || sealed !== (key !== null) || this.#isOld(from, number)) return;
    const bytes = key === null ? sent : await this.#seal.open(key, sent, { from, to, number, text });
    if (bytes === undefined || bytes.length > MAX_DATA_BYTES) return;
    // The last to speak is the last to be forgotten.
    this.#numbers.delete(from);
    this.#numbers.set(from, number);
    const [first] = this.#numbers.keys();
    if (this.#numbers.size > MAX_SENDERS && first !== undefined) this.#numbers.delete(first);
    onData(from, text ? new TextDecoder().decode(bytes) : bytes);
  }

  #isOld(from: ParticipantId, number: number): boolean {
    return number <= (this.#numbers.get(from) ?? 0);
  }
}
