/**
 * Counts the bytes that sockets hold in a pod, per network and in total. Every socket has an account, which it sets to the bytes that it holds; a
 * change costs a few additions. Over the budget of a network, its sockets are closed in order of what they hold until the network is within the
 * budget: a socket that holds little is not closed for what others behind the same address hold. Over the pod's budget, the same is done to the
 * network that holds most.
 */
export class ByteLedger {
  readonly #budget: ByteBudget;
  readonly #networks = new Map<string, Network>();
  #bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** The total of all sockets. */
  get bytes(): number {
    return this.#bytes;
  }

  bytesOf(network: string): number {
    return this.#networks.get(network)?.bytes ?? 0;
  }

  /** `onOver` is called when this account must be closed because a budget is exceeded; it has to call `close`. */
  open(name: string, onOver: () => void): ByteAccount {
    const network = this.#networks.get(name) ?? { bytes: 0, accounts: new Set() };
    this.#networks.set(name, network);
    const holding: Holding = { bytes: 0, onOver };
    network.accounts.add(holding);
    const set = (bytes: number): void => {
      const grown = bytes - holding.bytes;
      if (grown === 0 || !network.accounts.has(holding)) return;
      holding.bytes = bytes;
      network.bytes += grown;
      this.#bytes += grown;
      if (grown > 0) this.#check(network);
    };
    const close = (): void => {
      set(0);
      network.accounts.delete(holding);
      if (network.accounts.size === 0 && this.#networks.get(name) === network) this.#networks.delete(name);
    };
    return { set, close };
  }

  #check(network: Network): void {
    while (network.bytes > this.#budget.perNetwork) if (!closeLargest(network)) break;
    while (this.#bytes > this.#budget.perPod) if (!closeLargest(largest(this.#networks.values()))) break;
  }
}

export interface ByteBudget {
  readonly perNetwork: number;
  readonly perPod: number;
}

/** What one socket holds. */
export interface ByteAccount {
  /** Sets the number of bytes that the socket holds. */
  set(bytes: number): void;
  /** The socket holds nothing any more; later calls of `set` have no effect. */
  close(): void;
}

interface Holding {
  bytes: number;
  readonly onOver: () => void;
}

interface Network {
  bytes: number;
  readonly accounts: Set<Holding>;
}

/** `false` where no bytes were freed: repeating it would never end. */
function closeLargest(network: Network | undefined): boolean {
  if (network === undefined) return false;
  const before = network.bytes;
  largest(network.accounts)?.onOver();
  return network.bytes < before;
}

function largest<Item extends { readonly bytes: number }>(items: Iterable<Item>): Item | undefined {
  let best: Item | undefined;
  for (const item of items) if (item.bytes > (best?.bytes ?? 0)) best = item;
  return best;
}
