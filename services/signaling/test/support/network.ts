/**
 * The bus between cores: in memory, on fake time, the same for the same script. Links can be cut one way or both, single messages dropped,
 * and a fault model may drop, repeat or delay what it likes. What is sent is checked against the protocol's schemas.
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

/** After how many ms each copy arrives: `[1]` is ordinary, `[]` a loss, `[1, 40]` a message that is repeated late. */
export type Fault = (sent: Sent) => readonly number[];

const LATENCY_MS = 1;

export class Network {
  /** What left, for assertions; a lost message is in it too. */
  readonly sent: Sent[] = [];
  readonly #cut = new Set<string>();
  readonly #deliver: (sent: Sent, afterMs: number) => void;
  #fault: Fault = () => [LATENCY_MS];
  #drops: { matches: (sent: Sent) => boolean; skip: number }[] = [];

  constructor(deliver: (sent: Sent, afterMs: number) => void) {
    this.#deliver = deliver;
  }

  /** Nothing passes between the two, or in one direction where `oneWay`. A pod cut from itself does not hear its own beat. */
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

  isCut(from: string, to: string): boolean {
    return this.#cut.has(`${from}>${to}`);
  }

  /** Loses the nth (from 1) of the messages from now on that match. */
  drop(matches: (sent: Sent) => boolean, nth = 1): void {
    this.#drops.push({ matches, skip: nth - 1 });
  }

  withFault(fault: Fault | undefined): void {
    this.#fault = fault ?? (() => [LATENCY_MS]);
  }

  send(from: string, to: string, parcel: Parcel): void {
    const type = parcel.kind === 'message' ? parcel.message.type : 'transfer';
    const sent: Sent = { from, to, type, parcel: copyOf(parcel) };
    this.sent.push(sent);
    if (this.isCut(from, to) || this.#isDropped(sent)) return;
    for (const afterMs of this.#fault(sent)) this.#deliver(sent, afterMs);
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

/** As it would come out of the wire: pods share no objects, and nothing outside the schema travels. */
function copyOf(parcel: Parcel): Parcel {
  if (parcel.kind === 'transfer') return { kind: 'transfer', transfer: { ...parcel.transfer } };
  const decoded = decodeBusMessage(JSON.stringify(parcel.message));
  if (!decoded.ok) throw new Error(`a pod said something outside the schema: ${decoded.why}`);
  return { kind: 'message', message: decoded.message };
}
