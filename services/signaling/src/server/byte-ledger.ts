/**
 * How many bytes sockets hold in a pod, each network's and all together. Every socket has an account, which it sets to what it holds; a
 * change costs a few additions. Over the network's budget its sockets are closed, those that hold most first, until it is within it: a
 * socket that holds little is not closed for what others behind the same address hold. Over the pod's budget the same is done to the
 * network that holds most.
 */
export class ByteLedger {
  readonly #budget: ByteBudget;
  readonly #networks = new Map<string, Network>();
  #bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Of all sockets. */
  get bytes(): number {
    return this.#bytes;
  }

  bytesOf(network: string): number {
    return this.#networks.get(network)?.bytes ?? 0;
  }

  /** `onOver` is called when this account is over a budget, and has to end with `close`. */
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
  /** Now this many bytes. */
  set(bytes: number): void;
  /** It holds nothing any more, and never will again. */
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

/** `false` where that freed nothing: it would be asked for ever. */
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
