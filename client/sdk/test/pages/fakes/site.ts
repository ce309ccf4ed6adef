/** The service of pages of SPEC.md in memory, with a stream relay and a network between tabs; all on one fake clock. */
import { decodeVisitorMessage } from '@parley/protocol/decode';
import type { IceServer } from '@parley/protocol/http';
import type { PageLimits, VisitMessage } from '@parley/protocol/pages';
import type { Pages } from '../../../src/pages/api.ts';
import { openPages, type PagesOptions } from '../../../src/pages/open-pages.ts';
import type { Ports, WireHandlers, WireSocket } from '../../../src/ports.ts';
import { fakeClock, type FakeClock } from '../../fakes/clock.ts';
import { fakePorts } from '../../fakes/ports.ts';
import { seeded } from '../../fakes/random.ts';
import { FakeConnection, type Net, type Uplink } from './connections.ts';
import { instantSubtle } from './subtle.ts';

export const limits: PageLimits = {
  pageBytes: 4 << 20,
  chunkBytes: 16_384,
  perVisitor: 4,
  maxHolders: 6,
  maxReaders: 8,
  memoryBytes: 8 << 20,
  messageBytes: 65_536,
};

/** A visitor of the service: the SDK or a test. */
export interface Visitor {
  readonly id: string;
  readonly name: string;
  readonly network: string;
  send(message: VisitMessage): void;
  text(text: string): void;
  close(code: number): void;
}

interface Presence {
  wants: boolean;
  holds: 'none' | 'part' | 'whole';
  exclude: ReadonlySet<string>;
}

const HOP_MS = 10;
const COUNT_MS = 100;

export class Site {
  readonly clock: FakeClock = fakeClock();
  readonly connections: FakeConnection[] = [];
  readonly visitors = new Map<string, Visitor>();
  readonly tabs = new Map<string, Pages>();
  readonly uplinks = new Map<string, Uplink>();
  /** All messages of visitors, with their names. */
  readonly sent: { readonly from: string; readonly type: string }[] = [];
  /** The bytes that the relay forwarded. */
  relayed = 0;
  limits = limits;
  /** The rate of the uplink of each visitor, in bytes per ms. */
  rate = 100_000;
  /** The service refuses all connections. */
  down = false;
  /** The relay requires tokens. */
  asks = true;
  /** The relay loses one message in this many; 0: none. */
  loses = 0;
  path: Net['path'] = () => 'host';
  /** The servers; those with credentials are sent to visitors on request. */
  iceServers: readonly IceServer[] = [];
  iceTtlS = 600;
  readonly #pages = new Map<string, Map<string, Presence>>();
  readonly #topics = new Map<string, Set<WireHandlers>>();
  readonly #random = seeded(7);
  #numbers = 0;
  #seeds = 100;
  #relayCount = 0;
  #counting = new Set<string>();

  /** A tab with the SDK. */
  open(name: string, options: Partial<PagesOptions> = {}, change: Partial<Ports> = {}): Pages {
    const pages = openPages({ api: 'https://parley', ...options }, { ...this.ports(name), ...change });
    this.tabs.set(name, pages);
    return pages;
  }

  ports(name: string): Ports {
    this.#seeds += 1;
    return {
      ...fakePorts({}, this.#seeds),
      clock: this.clock,
      subtle: instantSubtle(),
      createConnection: (configuration) =>
        this.connection(name, configuration) as unknown as RTCPeerConnection,
      openSocket: (url, handlers) => this.#socket(name, url, handlers),
      fetch: async (url) => {
        if (!url.startsWith('https://parley/streams/v1/codes/pages/')) throw new TypeError('no such address');
        await Promise.resolve();
        return this.asks
          ? Response.json({ code: 'a-code' }, { status: 201 })
          : new Response('', { status: 404 });
      },
    };
  }

  connection(name: string, configuration?: RTCConfiguration): FakeConnection {
    return new FakeConnection(
      { clock: this.clock, all: this.connections, path: (one, other) => this.path(one, other) },
      name,
      this.uplink(name),
      configuration,
    );
  }

  uplink(name: string): Uplink {
    const known = this.uplinks.get(name) ?? { rate: this.rate, busyUntil: 0 };
    this.uplinks.set(name, known);
    return known;
  }

  /** Ends all sockets of a tab, or of all tabs. */
  dropSockets(name?: string, code = 1006): void {
    for (const visitor of this.visitors.values()) {
      if (name === undefined || visitor.name === name) visitor.close(code);
    }
  }

  /** The tab is killed: its sockets break and its connections send nothing more. */
  kill(name: string): void {
    for (const connection of this.connections) if (connection.tab === name) connection.vanish();
    this.tabs.get(name)?.close();
  }

  /** A visitor that is not the SDK: `handlers` receive its messages, and the test sends arbitrary ones. */
  enter(name: string, handlers: WireHandlers): WireSocket {
    return this.#socket(name, 'wss://parley/v1/pages/socket', handlers);
  }

  present(page: string): { holders: number; readers: number } {
    const all = [...(this.#pages.get(page)?.values() ?? [])];
    return {
      holders: all.filter(({ holds }) => holds === 'whole').length,
      readers: all.filter(({ wants }) => wants).length,
    };
  }

  #socket(name: string, url: string, handlers: WireHandlers): WireSocket {
    if (url.includes('/streams/')) return this.#relaySocket(url, handlers);
    let visitor: Visitor | null = null;
    let closed = false;
    const close = (code: number): void => {
      if (closed) return;
      closed = true;
      if (visitor !== null) this.#left(visitor);
      this.clock.after(HOP_MS, () => handlers.onClose(code));
    };
    this.clock.after(HOP_MS, () => {
      if (closed) return;
      if (this.down) {
        closed = true;
        handlers.onClose(1006);
        return;
      }
      handlers.onOpen();
      visitor = this.#arrive(name, handlers, close);
    });
    return {
      buffered: () => 0,
      close,
      send: (data) => {
        this.clock.after(HOP_MS, () => {
          if (!closed && visitor !== null && typeof data === 'string') this.#receive(visitor, data);
        });
      },
    };
  }

  #arrive(name: string, handlers: WireHandlers, close: (code: number) => void): Visitor {
    this.#numbers += 1;
    const id = `v${this.#numbers.toString().padStart(16, '0')}`;
    const text = (message: string): void => {
      this.clock.after(HOP_MS, () => {
        if (this.visitors.get(id) === visitor) handlers.onText(message);
      });
    };
    const visitor: Visitor = {
      id,
      name,
      network: name,
      text,
      send: (message) => text(JSON.stringify(message)),
      close,
    };
    this.visitors.set(id, visitor);
    visitor.send({
      type: 'welcome',
      visitor: id,
      pod: 'pod-a',
      iceServers: this.iceServers.filter(({ credential }) => credential === undefined),
      limits: this.limits,
      visitors: this.visitors.size,
    });
    return visitor;
  }

  #left(visitor: Visitor): void {
    this.visitors.delete(visitor.id);
    for (const [page, present] of this.#pages) if (present.delete(visitor.id)) this.#changed(page);
  }

  #receive(visitor: Visitor, text: string): void {
    const directed = /^>(\S{17}) (\S{1,24})\n/.exec(text);
    if (directed !== null) {
      const [head, to = '', id = ''] = directed;
      this.sent.push({ from: visitor.name, type: 'directed' });
      const other = this.visitors.get(to);
      if (other === undefined) visitor.send({ type: 'undelivered', to, id, reason: 'unknown' });
      else other.text(`<${visitor.id}\n${text.slice(head.length)}`);
      return;
    }
    const decoded = decodeVisitorMessage(text);
    if (!decoded.ok) throw new Error(`${visitor.name} sent ${text}: ${decoded.reason}`);
    const { message } = decoded;
    this.sent.push({ from: visitor.name, type: message.type });
    switch (message.type) {
      case 'subscribe': {
        const presence = this.#presence(message.page, visitor.id);
        presence.wants = true;
        presence.exclude = new Set(message.exclude);
        this.#name(message.page, visitor, presence);
        break;
      }
      case 'announce': {
        const presence = this.#presence(message.page, visitor.id);
        presence.holds = message.whole ? 'whole' : 'part';
        if (message.whole) presence.wants = false;
        break;
      }
      case 'leave':
        this.#pages.get(message.page)?.delete(visitor.id);
        break;
      case 'pipe':
        visitor.send({ type: 'pipe', pipe: message.pipe, token: 'a-token' });
        return;
      case 'ice':
        visitor.send({ type: 'ice', iceServers: [...this.iceServers], iceTtlS: this.iceTtlS });
        return;
      case 'ping':
        visitor.send({ type: 'pong' });
        return;
      default:
        message satisfies never;
    }
    this.#changed(message.page);
  }

  #presence(page: string, id: string): Presence {
    const present = this.#pages.get(page) ?? new Map<string, Presence>();
    this.#pages.set(page, present);
    const known = present.get(id) ?? { wants: false, holds: 'none', exclude: new Set<string>() };
    present.set(id, known);
    return known;
  }

  #name(page: string, visitor: Visitor, { exclude }: Presence): void {
    const others = [...(this.#pages.get(page) ?? [])].filter(
      ([id, { holds }]) => id !== visitor.id && holds !== 'none' && !exclude.has(id),
    );
    const order = new Map(others.map(([id]) => [id, this.#random.fraction()]));
    others.sort(
      ([a, one], [b, other]) =>
        Number(other.holds === 'whole') - Number(one.holds === 'whole') ||
        (order.get(a) ?? 0) - (order.get(b) ?? 0),
    );
    // One holder of the complete page, the others at random.
    const [first, ...rest] = others;
    rest.sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
    const chosen = first === undefined ? [] : [first, ...rest].slice(0, this.limits.maxHolders);
    const holders = chosen.map(([id, { holds }]) => ({ visitor: id, whole: holds === 'whole' }));
    visitor.send({ type: 'holders', page, holders });
  }

  #changed(page: string): void {
    if (this.#counting.has(page)) return;
    this.#counting.add(page);
    this.clock.after(COUNT_MS, () => {
      this.#counting.delete(page);
      const { holders, readers } = this.present(page);
      for (const [id, presence] of this.#pages.get(page) ?? []) {
        const visitor = this.visitors.get(id);
        visitor?.send({ type: 'count', page, holders, readers, settled: true });
        if (visitor !== undefined && presence.wants) this.#name(page, visitor, presence);
      }
    });
  }

  #relaySocket(url: string, handlers: WireHandlers): WireSocket {
    const { pathname, searchParams } = new URL(url);
    const members = this.#topics.get(pathname) ?? new Set<WireHandlers>();
    this.#topics.set(pathname, members);
    if (this.asks !== (searchParams.get('code') === 'a-code')) throw new Error('the wrong path in');
    this.clock.after(HOP_MS, () => {
      members.add(handlers);
      handlers.onOpen();
    });
    return {
      buffered: () => 0,
      close: () => void members.delete(handlers),
      send: (data) => {
        this.#relayCount += 1;
        if (this.loses > 0 && this.#relayCount % this.loses === 0) return;
        this.relayed += data.length;
        for (const one of members) {
          if (one === handlers) continue;
          this.clock.after(2 * HOP_MS, () => {
            if (!members.has(one)) return;
            if (typeof data === 'string') one.onText(data);
            else one.onBinary(data.slice());
          });
        }
      },
    };
  }
}
