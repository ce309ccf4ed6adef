/** The composition root: every part of a pod, in the order in which it starts, and the ordered list of its shutdown. */
import type { AddressInfo } from 'node:net';
import { turnNodeSubject } from '@parley/protocol/subjects';
import { TurnNode } from '@parley/protocol/turn';
import type { Logger } from 'pino';
import { createChatProofs } from '../adapters/chat-proofs.ts';
import { kvRooms } from '../adapters/kv-rooms.ts';
import { kvSeats } from '../adapters/kv-seats.ts';
import { natsBus } from '../adapters/nats-bus.ts';
import { connectNats } from '../adapters/nats-connection.ts';
import { subscribeLeases } from '../adapters/nats-leases.ts';
import { natsMedia } from '../adapters/nats-media.ts';
import { natsPages } from '../adapters/nats-pages.ts';
import { createTokens } from '../adapters/tokens.ts';
import type {
  Bus,
  BusListener,
  MediaBus,
  MediaListener,
  PageBus,
  PageListener,
  RoomStore,
  SeatStore,
  TurnListener,
} from '../core/ports.ts';
import type { Config } from './config.ts';
import { createHttp } from './http.ts';
import { warnings } from './log.ts';
import { SignalingPod } from './pod.ts';
import { RoomRenewals, roomLifetime } from './room-renewals.ts';
import { roomsOf } from './rooms.ts';
import { acceptSockets } from './upgrade.ts';

export interface RunningPod {
  readonly pod: SignalingPod;
  readonly url: string;
  /** Moves all clients to other pods first; at once where `force` is aborted. */
  drain(force?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The adapters behind the ports: tests use memory, `main` uses NATS. */
export interface Backing {
  readonly openBus: (listener: BusListener, onInvalid: (subject: string, reason: string) => void) => Bus;
  readonly openMedia: (
    listener: MediaListener,
    onInvalid: (subject: string, reason: string) => void,
  ) => MediaBus;
  readonly openPages: (
    listener: PageListener,
    onInvalid: (subject: string, reason: string) => void,
  ) => PageBus;
  readonly openTurn: (listener: TurnListener, onInvalid: (subject: string, reason: string) => void) => void;
  readonly store: RoomStore;
  readonly seats: SeatStore;
}

export async function natsBacking(config: Config): Promise<Backing> {
  const connection = await connectNats({ ...config.nats, name: config.pod });
  const lasting = { ...config.nats, lifetimeMs: roomLifetime(config.limits['room.idleTimeout']) };
  const turnNodes = { subject: turnNodeSubject, kind: TurnNode };
  return {
    openBus: (listener, onInvalid) => natsBus(connection, config.pod, listener, onInvalid),
    openMedia: (listener, onInvalid) => natsMedia(connection, config.region, listener, onInvalid),
    openPages: (listener, onInvalid) => natsPages(connection, config.pod, listener, onInvalid),
    openTurn: (listener, onInvalid) =>
      subscribeLeases(connection, turnNodes, (node) => listener.onNode(node), onInvalid),
    store: kvRooms(connection, { ...lasting, rooms: config.limits['region.rooms'] }),
    seats: kvSeats(connection, lasting),
  };
}

export async function startPod(config: Config, backing: Backing, log: Logger): Promise<RunningPod> {
  const tokens = createTokens(config.keySet);
  const proofs = createChatProofs(config.keySet);
  const { store, seats } = backing;
  const renewals = new RoomRenewals({ store, seats, idleMs: config.limits['room.idleTimeout'] });
  const rooms = roomsOf(store, config.region, config.limits, renewals);
  const badMessages = warnings(log, config.limits['pod.badMessageLogLines']);
  const onInvalid = (subject: string, reason: string): void => {
    pod.metrics.badBusMessages += 1;
    // The last part of the subject identifies the room or page, which the log must not contain.
    badMessages({ subject: subject.replace(/[^.]+$/, '…'), reason }, 'bus message not understood');
  };
  const pod = new SignalingPod({
    config,
    log,
    tokens,
    proofs,
    rooms,
    seats,
    openBus: (listener) => backing.openBus(listener, onInvalid),
    openMedia: (listener) => backing.openMedia(listener, onInvalid),
    openPages: (listener) => backing.openPages(listener, onInvalid),
    openTurn: (listener) => backing.openTurn(listener, onInvalid),
  });
  const http = createHttp({ config, log, pod, rooms, store, seats, tokens, ...pod.rates });
  acceptSockets(http.server, pod, config);
  await http.listen({ host: config.host, port: config.port });
  const { port } = http.server.address() as AddressInfo;
  const url = `http://${config.host}:${port}`;
  log.info({ url }, 'listening');
  return {
    pod,
    url,
    drain: (force) => pod.drain(force),
    async close() {
      await pod.close();
      http.server.closeAllConnections();
      await http.close();
    },
  };
}
