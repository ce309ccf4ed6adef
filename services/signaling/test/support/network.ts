/**
 * The bus between cores: in memory, in fake time, deterministic. Links can be cut in one or both directions, single messages dropped, and a fault
 * model may drop, repeat or delay messages. Messages are checked against the protocol's schemas.
 */
import { decodeBusMessage } from '@parley/protocol/decode';
import type { BusMessage } from '@parley/protocol/bus';
import type { DirectedTransfer } from '@parley/protocol/directed';

export type Parcel =
  | { readonly kind: 'message'; readonly message: BusMessage }
  | { readonly kind: 'transfer'; readonly transfer: DirectedTransfer };

/** One message on one link. */
export interface Sent {
  readonly from: string;
  readonly to: string;
  /** `transfer` for a directed message, else the type of the bus message. */
  readonly type: string;
  readonly parcel: Parcel;
}

/** The extra delay of each copy: `[0]` is ordinary, `[]` a loss, `[0, 40]` a message that is repeated late. */
export type Fault = (sent: Sent) => readonly number[];

const NO_FAULT: Fault = () => [0];

export class Network {
  /** Every message that was sent, including lost ones, for assertions. */
  readonly sent: Sent[] = [];
  readonly #cut = new Set<string>();
  readonly #down = new Set<string>();
  readonly #deliver: (sent: Sent, lateMs: number) => void;
  #fault: Fault = NO_FAULT;
  #drops: { matches: (sent: Sent) => boolean; skip: number }[] = [];
  #alterations: { matches: (sent: Sent) => boolean; alter: (message: BusMessage) => BusMessage }[] = [];

  readonly #blocks = new Set<(sent: Sent) => boolean>();
  #delays: { matches: (sent: Sent) => boolean; lateMs: number }[] = [];

  constructor(deliver: (sent: Sent, lateMs: number) => void) {
    this.#deliver = deliver;
  }

  /** No message passes between the two, or in one direction where `oneWay`. A pod that is cut from itself does not receive its own heartbeat. */
  cut(from: string, to: string, options: { oneWay?: boolean } = {}): void {
    this.#cut.add(`${from}>${to}`);
    if (options.oneWay !== true) this.#cut.add(`${to}>${from}`);
  }

  heal(from: string, to: string): void {
    this.#cut.delete(`${from}>${to}`);
    this.#cut.delete(`${to}>${from}`);
  }

  healAll(): void {
    this.#cut.clear();
  }

  /** Cuts all links of the pod to the bus. */
  unplug(pod: string): void {
    this.#down.add(pod);
  }

  plug(pod: string): void {
    this.#down.delete(pod);
  }

  isCut(from: string, to: string): boolean {
    return this.#down.has(from) || this.#down.has(to) || this.#cut.has(`${from}>${to}`);
  }

  /** Whether every link is up. */
  get isWhole(): boolean {
    return this.#down.size === 0 && this.#cut.size === 0;
  }

  /** Loses the nth (from 1) of the later messages that match. */
  drop(matches: (sent: Sent) => boolean, nth = 1): void {
    this.#drops.push({ matches, skip: nth - 1 });
  }

  /** The next message that matches arrives altered, as if its receiver had taken it wrongly. */
  alter(matches: (sent: Sent) => boolean, alter: (message: BusMessage) => BusMessage): void {
    this.#alterations.push({ matches, alter });
  }

  /** Loses every message that matches until the returned function is called. The link counts as up. */
  block(matches: (sent: Sent) => boolean): () => void {
    this.#blocks.add(matches);
    return () => void this.#blocks.delete(matches);
  }

  /** The next message that matches arrives this much later, whatever happens to its link meanwhile. */
  delay(matches: (sent: Sent) => boolean, lateMs: number): void {
    this.#delays.push({ matches, lateMs });
  }

  withFault(fault: Fault | undefined): void {
    this.#fault = fault ?? NO_FAULT;
  }

  send(from: string, to: string, parcel: Parcel): void {
    const type = parcel.kind === 'message' ? parcel.message.type : 'transfer';
    const sent: Sent = this.#altered({ from, to, type, parcel: copyOf(parcel) });
    this.sent.push(sent);
    const at = this.#delays.findIndex(({ matches }) => matches(sent));
    const [delayed] = at === -1 ? [] : this.#delays.splice(at, 1);
    if (delayed !== undefined) return this.#deliver(sent, delayed.lateMs);
    const isBlocked = [...this.#blocks].some((matches) => matches(sent));
    if (isBlocked || this.isCut(from, to) || this.#isDropped(sent)) return;
    for (const lateMs of this.#fault(sent)) this.#deliver(sent, lateMs);
  }

  #altered(sent: Sent): Sent {
    const at = this.#alterations.findIndex(({ matches }) => matches(sent));
    const [alteration] = at === -1 ? [] : this.#alterations.splice(at, 1);
    if (alteration === undefined || sent.parcel.kind !== 'message') return sent;
    return { ...sent, parcel: { kind: 'message', message: alteration.alter(sent.parcel.message) } };
  }

  #isDropped(sent: Sent): boolean {
    const at = this.#drops.findIndex(({ matches }) => matches(sent));
    const drop = this.#drops[at];
    if (drop === undefined) return false;
    if (drop.skip > 0) {
      drop.skip -= 1;
      return false;
    }
    this.#drops.splice(at, 1);
    return true;
  }
}

/** Serialised as on the wire: pods share no objects, and only what the schema has is transmitted. */
function copyOf(parcel: Parcel): Parcel {
  if (parcel.kind === 'transfer') return { kind: 'transfer', transfer: { ...parcel.transfer } };
  const decoded = decodeBusMessage(JSON.stringify(parcel.message));
  if (!decoded.ok) throw new Error(`a pod said something outside the schema: ${decoded.reason}`);
  return { kind: 'message', message: decoded.message };
}
