/** The composition root: every part of a pod, in the order in which it starts, and the ordered list of its shutdown. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { turnNodeSubject } from '@parley/protocol/subjects';
import { TurnNode } from '@parley/protocol/turn';
import type { Logger } from 'pino';
import { createChatProofs } from '../adapters/chat-proofs.ts';
import { kvFollowed } from '../adapters/kv-followed.ts';
import { kvRooms } from '../adapters/kv-rooms.ts';
import { kvSeats } from '../adapters/kv-seats.ts';
import { kvTerms } from '../adapters/kv-terms.ts';
import { natsBus } from '../adapters/nats-bus.ts';
import { connectNats } from '../adapters/nats-connection.ts';
import { subscribeLeases } from '../adapters/nats-leases.ts';
import { natsHomes } from '../adapters/nats-homes.ts';
import { natsMedia } from '../adapters/nats-media.ts';
import { natsPages } from '../adapters/nats-pages.ts';
import { createTokens } from '../adapters/tokens.ts';
import type {
  Bus,
  BusListener,
  FollowedStore,
  HomeBus,
  MediaBus,
  MediaListener,
  PageBus,
  PageListener,
  RoomStore,
  SeatStore,
  TermStore,
  TurnListener,
} from '../core/ports.ts';
import { roomLifetime } from '../core/room-life.ts';
import type { Spans } from '../core/spans.ts';
import { authorityOf, type Config } from './config.ts';
import { createHttp } from './http.ts';
import { warnings } from './log.ts';
import { namedRooms } from './named-rooms.ts';
import { SignalingPod, type PodParts } from './pod.ts';
import { otherRegions } from './regions.ts';
import { Traces } from './traces.ts';
import { acceptSockets } from './upgrade.ts';

/**
 * Connections that wait until the event loop accepts them; Linux takes no more than its own `net.core.somaxconn`, 4096 by default. With the 511 of
 * Node.js, the first thousand of a herd fill it, and for the others the edge waits in vain for a connection.
 */
const BACKLOG = 4096;

export interface RunningPod {
  readonly pod: SignalingPod;
  readonly url: string;
  /** Moves all clients to other pods first; at once where `force` is aborted. */
  drain(force?: AbortSignal): Promise<void>;
  /** Replaces the key set; sessions stay. Throws, and changes nothing, where the set is not valid. SPEC rule KEY-8. */
  useKeys(keySet: unknown): void;
  close(): Promise<void>;
}

type OnInvalid = (subject: string, reason: string) => void;

/** The adapters behind the ports: tests use memory, `main` uses NATS. */
export interface Backing {
  readonly openBus: (listener: BusListener, onInvalid: OnInvalid) => Bus;
  readonly openMedia: (listener: MediaListener, onInvalid: OnInvalid) => MediaBus;
  readonly openPages: (listener: PageListener, onInvalid: OnInvalid) => PageBus;
  readonly openTurn: (listener: TurnListener, onInvalid: OnInvalid) => void;
  readonly store: RoomStore;
  readonly seats: SeatStore;
  readonly homes: HomeBus;
  readonly followed: FollowedStore;
  readonly terms: TermStore;
  readonly spans?: Spans | undefined;
}

export async function natsBacking(config: Config, log: Logger): Promise<Backing> {
  const onUnreachable = (reason: string): void => log.warn({ reason }, 'NATS is not reached');
  const connection = await connectNats({ ...config.nats, name: config.pod, onUnreachable });
  const store = {
    ...config.nats,
    onUnreachable: (bucket: string, error: unknown) =>
      log.warn({ bucket, error: String(error) }, 'the store does not answer'),
  };
  const lasting = {
    ...store,
    rooms: config.limits['region.rooms'],
    lifetimeMs: roomLifetime(config.limits['room.idleTimeout']),
  };
  const { region } = config;
  const places = { region, others: otherRegions(config).map(({ name }) => name) };
  const turnNodes = { subject: turnNodeSubject, kind: TurnNode };
  return {
    openBus: (listener, onInvalid) => natsBus(connection, config.pod, listener, onInvalid),
    openMedia: (listener, onInvalid) => natsMedia(connection, places, listener, onInvalid),
    openPages: (listener, onInvalid) => natsPages(connection, config.pod, listener, onInvalid),
    openTurn: (listener, onInvalid) =>
      subscribeLeases(connection, turnNodes, (node) => listener.onNode(node), onInvalid),
    store: kvRooms(connection, lasting),
    seats: kvSeats(connection, lasting),
    homes: natsHomes(connection, config.region),
    followed: kvFollowed(connection, lasting),
    terms: kvTerms(connection, store),
    spans: await openSpans(config, log),
  };
}

/** A pod without a collector does not load OpenTelemetry. */
async function openSpans({ tracesUrl, pod, region }: Config, log: Logger): Promise<Spans | undefined> {
  if (tracesUrl === undefined) return undefined;
  const { otlpSpans } = await import('../adapters/otlp-spans.ts');
  const failed = warnings(log, FAILED_EXPORT_LINES_PER_MINUTE);
  return otlpSpans({
    url: tracesUrl,
    resource: {
      'service.name': 'parley-signaling',
      'service.instance.id': pod,
      'cloud.region': region,
    },
    onFailed: (reason) => failed({ reason }, 'spans were not sent'),
  });
}

const FAILED_EXPORT_LINES_PER_MINUTE = 2;

function openersOf(
  { openBus, openMedia, openPages, openTurn }: Backing,
  onInvalid: OnInvalid,
): Pick<PodParts, 'openBus' | 'openMedia' | 'openPages' | 'openTurn'> {
  return {
    openBus: (listener) => openBus(listener, onInvalid),
    openMedia: (listener) => openMedia(listener, onInvalid),
    openPages: (listener) => openPages(listener, onInvalid),
    openTurn: (listener) => openTurn(listener, onInvalid),
  };
}

export async function startPod(config: Config, backing: Backing, log: Logger): Promise<RunningPod> {
  const tokens = createTokens(config.keySet);
  const proofs = createChatProofs(config.keySet);
  const boot = Date.now();
  const named = namedRooms({ ...backing, config, boot, pod: () => pod });
  const traces = backing.spans && new Traces(config.limits, backing.spans, () => performance.now());
  const badMessages = warnings(log, config.limits['pod.badMessageLogLines']);
  const pod = new SignalingPod({
    config,
    log,
    tokens,
    proofs,
    ...named,
    seats: backing.seats,
    homeBus: backing.homes,
    followed: backing.followed,
    boot,
    traces,
    ...openersOf(backing, (subject, reason) => {
      pod.metrics.badBusMessages += 1;
      // The last part of the subject identifies the room or page, which the log must not contain.
      badMessages({ subject: subject.replace(/[^.]+$/, '…'), reason }, 'bus message not understood');
    }),
  });
  const http = createHttp({ config, log, pod, ...named, tokens, ...pod.rates });
  acceptSockets(http.server, pod, config);
  const url = await listen(http, config);
  log.info({ url }, 'listening');
  return {
    pod,
    url,
    drain: (force) => pod.drain(force),
    useKeys(keySet) {
      // The first refuses every set that the second would.
      tokens.useKeys(keySet);
      proofs.useKeys(keySet);
    },
    async close() {
      named.close();
      await pod.close();
      http.server.closeAllConnections();
      await http.close();
      await backing.spans?.close();
    },
  };
}

async function listen(http: FastifyInstance, { host, port }: Config): Promise<string> {
  await http.listen({ host, port, backlog: BACKLOG });
  const { port: given } = http.server.address() as AddressInfo;
  return `http://${authorityOf({ host, port: given })}`;
}
