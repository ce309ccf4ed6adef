/** Prometheus metrics of a pod. Hot paths count plain numbers; a scrape turns them into metrics. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { QualityMetrics } from './quality.ts';
import type { Traces } from './traces.ts';

/** The current state of a pod. */
interface PodCounts {
  readonly rooms: number;
  readonly sockets: number;
  readonly peers: number;
  /** By region. */
  readonly peersBeyond: ReadonlyMap<string, number>;
  readonly connections: number;
  readonly mediaRelays: number;
  readonly turnNodes: number;
  readonly unfollowed: number;
  /** Sockets whose `enter` or `resume` waits for its turn. */
  readonly waiting: number;
  readonly slots: number;
  readonly slotsGiven: number;
  readonly traces: Pick<Traces, 'sampled' | 'dropped'> | undefined;
  readonly arrivalsPerSecond: number;
  readonly joinsPerSecond: number;
  readonly bufferedBytes: number;
  readonly incompleteBytes: number;
  readonly pages: { readonly visitors: number; readonly pages: number; readonly held: number };
}

export class Metrics {
  readonly registry = new Registry();
  /** Directed messages from one socket of this pod to another. */
  directedHere = 0;
  directedOut = 0;
  directedIn = 0;
  messagesIn = 0;
  messagesOut = 0;
  badBusMessages = 0;
  /** Leases of media relays whose host is not allowed. */
  refusedRelays = 0;
  /** Writes of a room's seats that failed because another pod wrote first. */
  seatConflicts = 0;
  readonly seats = new Counter({
    name: 'parley_seat_requests_total',
    help: 'Requests for a seat in rooms with a cap',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly homeRequests = new Counter({
    name: 'parley_home_requests_total',
    help: 'Requests to the home regions of rooms of other regions',
    labelNames: ['type', 'outcome'],
    registers: [this.registry],
  });
  readonly chatDropped = new Counter({
    name: 'parley_chat_lines_dropped_total',
    help: 'Chat lines of a resume that were dropped',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly undelivered = new Counter({
    name: 'parley_directed_messages_undelivered_total',
    help: 'Directed messages that were not delivered',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly arrivals = new Counter({
    name: 'parley_arrivals_total',
    help: 'Participants that entered',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  readonly refusals = new Counter({
    name: 'parley_refusals_total',
    help: 'Refused requests and sockets',
    labelNames: ['code'],
    registers: [this.registry],
  });
  readonly welcomeSeconds = new Histogram({
    name: 'parley_welcome_seconds',
    help: 'Time from enter or resume to the welcome',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.3, 0.5, 1, 2],
    registers: [this.registry],
  });

  readonly quality = new QualityMetrics(this.registry);

  constructor(read: () => PodCounts) {
    collectDefaultMetrics({ register: this.registry });
    addGauges(this.registry, read);
    addRegionGauge(this.registry, read);
    addCounters(this.registry, this, read);
  }
}

function addGauges(registry: Registry, read: () => PodCounts): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
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
    'Other pods of the region whose messages this pod received in the last 3.5 s',
    () => read().peers,
  );
  gauge('parley_media_relays', 'Media relays that this pod offers to participants', () => read().mediaRelays);
  gauge('parley_turn_nodes', 'TURN nodes that this pod offers to participants', () => read().turnNodes);
  gauge(
    'parley_home_unfollowed',
    'Records of rooms whose newest version a follower has not acknowledged to this pod, for each follower',
    () => read().unfollowed,
  );
  gauge(
    'parley_arrivals_waiting',
    'WebSockets whose enter or resume waits for its turn',
    () => read().waiting,
  );
  gauge('parley_slots', 'Slots of joins that are neither used nor over', () => read().slots);
  gauge(
    'parley_arrivals_per_second',
    'Enters and resumes per second that this pod accepts at most now',
    () => read().arrivalsPerSecond,
  );
  gauge(
    'parley_joins_per_second',
    'Joins per second that this pod accepts at most now',
    () => read().joinsPerSecond,
  );
  gauge(
    'parley_buffered_bytes',
    'Bytes that wait in the send buffers of WebSockets',
    () => read().bufferedBytes,
  );
  gauge('parley_reassembly_bytes', 'Memory of incomplete messages', () => read().incompleteBytes);
  gauge('parley_visitors', 'Visitors of pages whose socket this pod holds', () => read().pages.visitors);
  gauge('parley_pages', 'Pages that visitors of this pod hold or want', () => read().pages.pages);
  gauge('parley_pages_held', 'Whole pages that visitors of this pod hold', () => read().pages.held);
}

/** By region. */
function addRegionGauge(registry: Registry, read: () => PodCounts): void {
  new Gauge({
    name: 'parley_region_peers',
    help: 'Pods of another region whose messages this pod received in the last 3.5 s; 0 while none arrive, for a region of the list also after it was forgotten',
    labelNames: ['peer_region'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [region, peers] of read().peersBeyond) this.set({ peer_region: region }, peers);
    },
  });
}

function addCounters(registry: Registry, metrics: Metrics, read: () => PodCounts): void {
  const counter = (name: string, help: string, value: () => number): void => {
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  };
  counter('parley_messages_received_total', 'WebSocket messages received', () => metrics.messagesIn);
  counter('parley_messages_sent_total', 'WebSocket messages sent', () => metrics.messagesOut);
  counter(
    'parley_directed_messages_local_total',
    'Directed messages between participants of this pod',
    () => metrics.directedHere,
  );
  counter(
    'parley_directed_messages_sent_total',
    'Directed messages sent to another pod',
    () => metrics.directedOut,
  );
  counter(
    'parley_directed_messages_received_total',
    'Directed messages received from another pod',
    () => metrics.directedIn,
  );
  counter('parley_slots_given_total', 'Joins that got a slot', () => read().slotsGiven);
  counter('parley_traced_joins_total', 'Joins that were traced', () => read().traces?.sampled ?? 0);
  counter(
    'parley_traced_joins_dropped_total',
    'Joins that were sampled and not traced, as they were over pod.traces or address.traces',
    () => read().traces?.dropped ?? 0,
  );
  counter(
    'parley_nats_invalid_messages_total',
    'Messages on NATS that did not match their schema',
    () => metrics.badBusMessages,
  );
  counter(
    'parley_seat_conflicts_total',
    'Writes of seats that were repeated after a conflict',
    () => metrics.seatConflicts,
  );
  counter(
    'parley_media_relay_refusals_total',
    'Leases of media relays that were refused because their host is not allowed',
    () => metrics.refusedRelays,
  );
}
