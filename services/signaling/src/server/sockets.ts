/** The sockets of this pod, of rooms and of pages: found by number, counted by address, and checked for dead peers. */
import type { SocketId } from '../core/socket-id.ts';
import type { Connection } from './connection.ts';
import type { VisitorConnection } from './visitor-connection.ts';

/** The pings of an interval are sent in this many turns: thousands at once, and their answers, would delay messages. */
const PING_TURNS = 20;

type PodSocket = Connection | VisitorConnection;

export class Sockets {
  readonly #connections = new Map<SocketId, Connection>();
  /** Of rooms and pages. */
  readonly #all = new Map<SocketId, PodSocket>();
  readonly #perAddress = new Map<string, number>();
  readonly #pings: NodeJS.Timeout;
  #whenEmpty: () => void = () => undefined;

  constructor(pingEveryMs: number) {
    let turn = 0;
    this.#pings = setInterval(() => {
      turn = (turn + 1) % PING_TURNS;
      for (const socket of this.#all.values()) if (socket.id % PING_TURNS === turn) socket.checkAlive();
    }, pingEveryMs / PING_TURNS);
  }

  get size(): number {
    return this.#all.size;
  }

  all(): PodSocket[] {
    return [...this.#all.values()];
  }

  countOf(address: string): number {
    return this.#perAddress.get(address) ?? 0;
  }

  /** The socket of a room with this number. */
  connection(id: SocketId): Connection | undefined {
    return this.#connections.get(id);
  }

  addConnection(connection: Connection): void {
    this.#connections.set(connection.id, connection);
    this.add(connection);
  }

  add(socket: PodSocket): void {
    this.#all.set(socket.id, socket);
    this.#perAddress.set(socket.address, this.countOf(socket.address) + 1);
  }

  /** Effects no longer reach this socket; `remove` follows. */
  removeConnection({ id }: Connection): void {
    this.#connections.delete(id);
  }

  remove({ id, address }: PodSocket): void {
    // A socket that was refused at the upgrade was never added.
    if (!this.#all.delete(id)) return;
    const left = this.countOf(address) - 1;
    if (left > 0) this.#perAddress.set(address, left);
    else this.#perAddress.delete(address);
    if (this.#all.size === 0) this.#whenEmpty();
  }

  /** Resolves when no socket is left. */
  async emptied(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
  }

  close(): void {
    clearInterval(this.#pings);
    for (const socket of this.#all.values()) socket.end('GOAWAY');
  }
}
