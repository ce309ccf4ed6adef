/** The shell around the core of rooms: opens the parts of a pod and serves its sockets and routes. */
import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { ModerationAction, RoomPolicy } from '@parley/protocol/bus';
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { IceOffer, LiveRequest, RegionList, RelayOffer, RoomView } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import { createCore, type Core } from '../core/core.ts';
import type { Effect } from '../core/effects.ts';
import { HeardClock } from '../core/heard-clock.ts';
import type { Input } from '../core/input.ts';
import type {
  Bus,
  BusListener,
  FollowedStore,
  HomeBus,
  MediaBus,
  MediaListener,
  PageBus,
  PageListener,
  SeatStore,
  TurnListener,
} from '../core/ports.ts';
import type { ChatProofs } from '../adapters/chat-proofs.ts';
import type { Tokens } from '../adapters/tokens.ts';
import { actingSeats } from './acting-seats.ts';
import { admit, type AdmissionParts } from './admission.ts';
import { budgetsOf, type Budgets } from './budgets.ts';
import type { Config } from './config.ts';
import type { Connection, Entered, Host, Refused } from './connection.ts';
import { CoreRunner } from './core-runner.ts';
import { moveClients } from './drain.ts';
import type { Followers } from './followers.ts';
import { gateOf } from './gate.ts';
import { HomeRegion } from './home-region.ts';
import { HomeServer } from './home-server.ts';
import type { Homes } from './homes.ts';
import { warnings } from './log.ts';
import { MediaAccess, type Assignment, type RelayAsked } from './media-access.ts';
import { Metrics } from './metrics.ts';
import { OwnerRequests, type Listing, type ModerationResult } from './owner-requests.ts';
import { PageShell } from './page-shell.ts';
import { ratesOf, type Rates } from './rates.ts';
import { allPeersBeyond, otherRegions, severalRegions } from './regions.ts';
import { carryOutRoomEffect } from './room-effects.ts';
import type { RoomLookup, Rooms } from './rooms.ts';
import { SeatKeeper } from './seat-keeper.ts';
import { SeatWriter } from './seat-writer.ts';
import { Sockets } from './sockets.ts';
import type { Terms } from './terms.ts';
import type { Traces } from './traces.ts';
import { Turns } from './turns.ts';
import { IceOffers } from './ice-offers.ts';
import type { VisitorConnection } from './visitor-connection.ts';

export interface PodParts {
  readonly config: Config;
  readonly log: Logger;
  readonly tokens: Tokens;
  readonly proofs: ChatProofs;
  readonly rooms: Rooms;
  readonly seats: SeatStore;
  readonly homes: Homes;
  readonly homeBus: HomeBus;
  readonly followed: FollowedStore;
  readonly followers: Pick<Followers, 'unfollowed' | 'changed'>;
  readonly terms: Terms;
  /** Identifies this process: its start in Unix ms. */
  readonly boot: number;
  /** Where there is a collector. */
  readonly traces: Traces | undefined;
  readonly openBus: (listener: BusListener) => Bus;
  readonly openMedia: (listener: MediaListener) => MediaBus;
  readonly openPages: (listener: PageListener) => PageBus;
  readonly openTurn: (listener: TurnListener) => void;
}

export class SignalingPod implements Host {
  readonly limits: Config['limits'];
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  readonly rates: Rates;
  readonly regions: RegionList | undefined;
  readonly turns: Turns;
  readonly traces: Traces | undefined;
  readonly core: Core;
  readonly pages: PageShell;
  readonly #parts: PodParts;
  readonly #boot: number;
  readonly #sockets: Sockets;
  readonly #bus: Bus;
  readonly #runner: CoreRunner<Input, Effect>;
  readonly #admission: AdmissionParts;
  readonly #home: HomeRegion;
  readonly #media: MediaAccess;
  readonly #turn: IceOffers;
  readonly #requests = new OwnerRequests((input) => this.handle(input));
  readonly #heard: HeardClock;
  #draining = false;

  constructor(parts: PodParts) {
    const { config } = parts;
    const { limits } = config;
    const now = (): number => this.now();
    this.#heard = new HeardClock(now());
    const leaseNow = (): number => this.#heard.at(now());
    this.#parts = parts;
    this.#boot = parts.boot;
    this.limits = limits;
    this.regions = severalRegions(config);
    this.budgets = budgetsOf(limits);
    this.rates = ratesOf(limits, now());
    this.turns = new Turns({ limits, budgets: this.budgets, now });
    this.traces = parts.traces;
    this.core = createCore({ pod: config.pod, boot: this.#boot, limits, now: now(), random: Math.random });
    this.#sockets = new Sockets(limits['socket.pingInterval']);
    this.metrics = this.#createMetrics();
    this.#admission = this.#admissionParts();
    this.#home = this.#createHome();
    this.#media = new MediaAccess({
      ...parts,
      limits,
      hosts: config.mediaHosts,
      otherRegions: otherRegions(config),
      metrics: this.metrics,
      now,
      leaseNow,
    });
    this.#turn = new IceOffers({ ...parts, now, leaseNow });
    this.pages = this.#createPages();
    this.#bus = parts.openBus(this.#busListener());
    const effects = {
      sockets: this.#sockets,
      bus: this.#bus,
      home: this.#home,
      media: this.#media,
      pages: this.pages,
      requests: this.#requests,
      metrics: this.metrics,
    };
    this.#runner = new CoreRunner({
      core: this.core,
      now,
      carryOut: (effect) => carryOutRoomEffect(effects, effect),
    });
    this.#runner.start();
  }

  now(): number {
    return performance.now();
  }

  get isReady(): boolean {
    return !this.#draining && this.#bus.isConnected() && this.core.ready();
  }

  /**
   * Whether participants may enter this room here. Without a bus the pod is not ready, so that the edge prefers others, but rooms that are open here
   * continue; when every pod is without a bus, ad-hoc rooms open too. SPEC rule JOIN-14.
   */
  admits(room: RoomId): boolean {
    const { heardAt } = this.#heard;
    if (this.#draining || heardAt === undefined) return false;
    return this.isReady || this.core.population(room) > 0 || this.now() - heardAt > ALONE_AFTER_MS;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  get socketCount(): number {
    return this.#sockets.size;
  }

  socketsOf(address: string): number {
    return this.#sockets.countOf(address);
  }

  accept(connection: Connection): void {
    this.#sockets.addConnection(connection);
  }

  acceptVisitor(connection: VisitorConnection): void {
    this.#sockets.add(connection);
    this.pages.accept(connection);
  }

  ending(connection: Connection): void {
    this.turns.remove(connection.id);
  }

  closed(connection: Connection, isUnloaded: boolean): void {
    this.#sockets.removeConnection(connection);
    this.handle({ type: 'lost', socket: connection.id, isUnloaded });
    this.#sockets.remove(connection);
  }

  handle(input: Input): void {
    this.#runner.handle(input);
  }

  /** Signed here, where the participant's name in the roster is known. */
  chat({ id: socket, room }: Connection, id: string, text: string): void {
    const holder = this.core.holder(socket);
    if (holder === undefined) return;
    const line = { id, from: holder.participant, name: holder.name, text, at: Date.now() };
    const proof = this.#parts.proofs.sign(room, line);
    this.handle({ type: 'chat', socket, line: { ...line, proof } });
  }

  admit(connection: Connection, message: Enter | Resume): Promise<Refused | undefined> {
    return admit(this.#admission, connection, message);
  }

  /** The core admitted the participant. Refusals before this write no line to the log. */
  entered({ ids }: Connection, { participant, generation, kind }: Entered): void {
    this.metrics.arrivals.inc({ kind });
    this.#parts.log.info({ ...ids, participant, generation, kind }, 'participant entered');
  }

  /** `undefined` where the address may send a request that costs a signature; otherwise how long to wait, in ms. SPEC rule LIM-14. */
  takeRead(address: string): number | undefined {
    return this.rates.reads.take(address, this.now());
  }

  /** The STUN and TURN servers of this room, with new credentials for a client at this address. */
  iceOffer(room: RoomId, address: string): IceOffer {
    return this.#turn.offer(room, address);
  }

  takeIceRequest(address: string): number | undefined {
    return this.#turn.takeRequest(address);
  }

  /** A relay of this room, with a new token for it; `null` where the region has none. */
  relayOffer({ id, room }: Connection, asked: RelayAsked): Assignment {
    const holder = this.core.holder(id);
    if (holder === undefined) return { relay: null };
    return this.#media.offer(room, holder, this.core.served(room), asked);
  }

  /** A relay of a live broadcast. */
  liveOffer(name: string, asked: LiveRequest): RelayOffer | null {
    return this.#media.offerLive(name, asked);
  }

  /** Carries out an owner's request about a participant, on whichever pod that is. Never rejects; answers within 3 s. */
  moderate(room: RoomId, action: ModerationAction, participant: ParticipantId): Promise<ModerationResult> {
    return this.#requests.moderate(room, action, participant);
  }

  /** All participants of the room, on every pod, and those in its lobby. Never rejects; answers within half a second. */
  list(view: RoomView, policy: RoomPolicy | undefined): Promise<Listing> {
    return this.#requests.list(view, policy);
  }

  /** Signs the same token with a later expiry. SPEC rule RES-11. */
  renew(token: string): string {
    return this.#parts.tokens.renewResume(token, this.limits['resume.ttl']);
  }

  /** Moves all clients to other pods and resolves when all sockets are closed; `force` skips the rest of the pacing. SPEC rule RES-8. */
  async drain(force: AbortSignal = new AbortController().signal): Promise<void> {
    this.#draining = true;
    this.pages.announceLeaving();
    const waiting = this.turns.stop();
    const inOrder = [...new Set([...waiting, ...this.#sockets.all()])];
    await moveClients(inOrder, this.limits['drain.window'], force);
    // All sockets end, as one whose peer does not answer the close frame is destroyed. Only then do the other pods know which participants are away.
    await this.#sockets.emptied();
    this.pages.announceLeft();
  }

  async close(): Promise<void> {
    this.#runner.close();
    this.turns.close();
    this.#home.close();
    this.pages.close();
    this.#sockets.close();
    await this.#bus.close();
  }

  #createMetrics(): Metrics {
    return new Metrics(() => ({
      ...this.core.counts(),
      peersBeyond: allPeersBeyond(this.#parts.config, this.core.counts().peersBeyond),
      connections: this.#sockets.size,
      pages: this.pages.counts(),
      mediaRelays: this.#media.relays,
      turnNodes: this.#turn.count(),
      unfollowed: this.#parts.followers.unfollowed,
      waiting: this.turns.queue.size,
      slots: this.turns.slots.size,
      slotsGiven: this.turns.slots.given,
      traces: this.traces,
      arrivalsPerSecond: this.turns.queue.pace.perSecond,
      joinsPerSecond: this.turns.slots.pace.perSecond,
      bufferedBytes: this.budgets.buffered.bytes,
      incompleteBytes: this.budgets.incomplete.bytes,
    }));
  }

  #admissionParts(): AdmissionParts {
    const { rates, turns, metrics, traces, core } = this;
    const now = (): number => this.now();
    return {
      tokens: this.#parts.tokens,
      arrivals: { ...this.#parts, limits: this.limits, viewHere: (room) => core.view(room) },
      gate: gateOf({ rates, now, isUsed: (room, participant) => core.isKnown(room, participant) }),
      rates,
      turns,
      metrics,
      traces,
      now,
      handle: (input) => this.handle(input),
    };
  }

  #createHome(): HomeRegion {
    const { config, rooms, homes, homeBus, followed, terms, seats: store } = this.#parts;
    const writer = new SeatWriter({
      store,
      isAbandoned: ({ room }, seat) => this.core.isAbandoned(room, seat),
      mayLive: (seat) => this.core.mayLive(seat),
      restMs: (plan) => this.core.seatRestMs(plan),
      readPolicy: async ({ room }) => policyIn(await rooms.lookUp(room)),
      metrics: this.metrics,
    });
    const seats = new SeatKeeper({
      commit: actingSeats({ region: config.region, terms, writer, homes }),
      holder: { pod: config.pod, boot: this.#boot },
      metrics: this.metrics,
    });
    const server = new HomeServer({
      region: config.region,
      rooms,
      seats,
      followed,
      terms,
      reaches: (other) => this.core.reaches(other),
      limits: this.limits,
      onChanged: (policy) => this.handle({ type: 'policy', policy, notify: true }),
      onTaken: (home, name) => this.#parts.followers.changed(home, name),
      onRemoved: (room, incarnation) => this.handle({ type: 'room-deleted', room, incarnation }),
    });
    homeBus.serve((request) => server.answer(request));
    return new HomeRegion({
      ...this.#admission.arrivals,
      seats,
      handle: (input) => this.handle(input),
      entry: (socket) => this.#sockets.connection(socket)?.entry,
      isPromoted: (home) => terms.term(home) > 0,
    });
  }

  #createPages(): PageShell {
    return new PageShell({
      ...this.#parts,
      metrics: this.metrics,
      budgets: this.budgets,
      boot: this.#boot,
      turn: this.#turn,
      now: () => this.now(),
      onClosed: (connection) => this.#sockets.remove(connection),
    });
  }

  #busListener(): BusListener {
    const { config, log } = this.#parts;
    const namesakes = warnings(log, NAMESAKE_LINES_PER_MINUTE);
    return {
      onMessage: (message) => {
        if (message.type === 'heartbeat' && message.pod === config.pod) {
          if (message.boot === this.#boot) this.#heard.hear(this.now());
          else namesakes({ pod: config.pod }, 'another process has the name of this pod: neither is ready');
        }
        this.handle({ type: 'bus', message });
      },
      onTransfer: (transfer) => {
        this.metrics.directedIn += 1;
        this.handle({ type: 'transfer', transfer });
      },
      onBack: () => this.handle({ type: 'bus-back' }),
    };
  }
}

const policyIn = (known: RoomLookup): RoomPolicy | undefined => (known.ok ? known.policy : undefined);

const NAMESAKE_LINES_PER_MINUTE = 2;

/**
 * How long a pod without a bus refuses newcomers to a room that is not open here. After this the edge has found the ready pods, so a client that
 * still arrives has no other pod.
 */
const ALONE_AFTER_MS = 5000;
