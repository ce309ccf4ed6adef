/** Prometheus metrics of a pod. Hot paths count plain numbers; they become metrics when somebody asks. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** What a pod holds at the moment. */
interface Held {
  readonly rooms: number;
  readonly sockets: number;
  readonly peers: number;
  readonly connections: number;
  readonly mediaRelays: number;
  readonly turnNodes: number;
  readonly bufferedBytes: number;
  readonly incompleteBytes: number;
  readonly pages: { readonly visitors: number; readonly pages: number; readonly held: number };
}

export class Metrics {
  readonly registry = new Registry();
  /** Directed messages handed from one socket of this pod to another. */
  directedHere = 0;
  directedOut = 0;
  directedIn = 0;
  messagesIn = 0;
  messagesOut = 0;
  badBusMessages = 0;
  /** Leases of media relays whose host is not allowed. */
  refusedRelays = 0;
  /** Writes of a room's seats that another pod was faster with. */
  seatConflicts = 0;
  readonly undelivered: Counter<'reason'>;
  readonly arrivals: Counter<'kind'>;
  readonly refusals: Counter<'code'>;
  readonly seats: Counter<'outcome'>;
  readonly chatDropped: Counter<'reason'>;
  readonly welcomeSeconds: Histogram;

  constructor(read: () => Held) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    const gauge = (name: string, help: string, value: () => number): void => {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(value());
        },
      });
    };
    gauge('parley_rooms', 'Rooms this pod has an interest in', () => read().rooms);
    gauge('parley_participants', 'Participants whose socket this pod holds', () => read().sockets);
    gauge('parley_sockets', 'Open WebSockets, before and after entering', () => read().connections);
    gauge(
      'parley_peers',
      'Other pods whose beat this pod has heard in the last 3.5 s, also of regions whose NATS is joined with its own',
      () => read().peers,
    );
    gauge('parley_media_relays', 'Media relays this pod sends people to', () => read().mediaRelays);
    gauge('parley_turn_nodes', 'TURN nodes that people can be sent to', () => read().turnNodes);
    gauge(
      'parley_buffered_bytes',
      'Bytes written to WebSockets that wait to be read',
      () => read().bufferedBytes,
    );
    gauge(
      'parley_incomplete_bytes',
      'Memory of messages of which a part has come',
      () => read().incompleteBytes,
    );
    gauge('parley_visitors', 'Visitors of pages whose socket this pod holds', () => read().pages.visitors);
    gauge('parley_pages', 'Pages that visitors of this pod hold or want', () => read().pages.pages);
    gauge('parley_pages_held', 'Whole pages that visitors of this pod hold', () => read().pages.held);
    const counter = (name: string, help: string, value: () => number): void => {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(value());
        },
      });
    };
    counter('parley_messages_received_total', 'WebSocket messages received', () => this.messagesIn);
    counter('parley_messages_sent_total', 'WebSocket messages sent', () => this.messagesOut);
    counter(
      'parley_directed_local_total',
      'Directed messages handed on inside the pod',
      () => this.directedHere,
    );
    counter('parley_directed_out_total', 'Directed messages sent to another pod', () => this.directedOut);
    counter('parley_directed_in_total', 'Directed messages taken from another pod', () => this.directedIn);
    counter(
      'parley_bus_bad_messages_total',
      'Bus messages that were not understood',
      () => this.badBusMessages,
    );
    counter('parley_seat_conflicts_total', 'Writes of seats repeated', () => this.seatConflicts);
    counter(
      'parley_media_relays_refused_total',
      'Leases of media relays whose host is not allowed',
      () => this.refusedRelays,
    );
    this.seats = new Counter({
      name: 'parley_seats_total',
      help: 'Seats asked for in rooms with a cap',
      labelNames: ['outcome'],
      registers,
    });
    this.chatDropped = new Counter({
      name: 'parley_chat_dropped_total',
      help: 'Chat lines that a resume brought and that were not taken',
      labelNames: ['reason'],
      registers,
    });
    this.undelivered = new Counter({
      name: 'parley_undelivered_total',
      help: 'Directed messages that nobody took',
      labelNames: ['reason'],
      registers,
    });
    this.arrivals = new Counter({
      name: 'parley_arrivals_total',
      help: 'Participants that entered',
      labelNames: ['kind'],
      registers,
    });
    this.refusals = new Counter({
      name: 'parley_refusals_total',
      help: 'Requests and sockets refused',
      labelNames: ['code'],
      registers,
    });
    this.welcomeSeconds = new Histogram({
      name: 'parley_welcome_seconds',
      help: 'From enter or resume to the welcome',
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.3, 0.5, 1, 2],
      registers,
    });
  }
}
