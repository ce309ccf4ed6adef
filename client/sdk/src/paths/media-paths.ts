/**
 * Moves the media of each participant to the path that `paths.ts` decides, from the roster, the signals of others, the mesh and the relays. The
 * room through relays is loaded when a participant first needs it.
 */
import type { ParticipantId } from '@parley/protocol/ids';
import type { CallFigures, CallPath, PersonMedia } from '../call.ts';
import { CallMeter } from '../measure/call-meter.ts';
import type { LocalMedia, Size } from '../media.ts';
import type { LinkCode } from '../mesh/link-code.ts';
import type { Mesh } from '../mesh/mesh.ts';
import type { RelaySignal } from '../mesh/payload.ts';
import type {
  Ports,
  RelayedMedia,
  RelayedPerson,
  RelayedRoom,
  RelayedRoomOptions,
  SecurityCode,
} from '../ports.ts';
import type { HeardMember } from '../room/mutes.ts';
import { forgetSent, newPair, receiveSignal, signalDue, usesRelays, type PairState } from './pair.ts';
import { planOf, type Plan } from './paths.ts';
import { RelaySession } from './relay-session.ts';
import { RoomPath } from './room-path.ts';
import { flows, shownOf } from './shown.ts';
import { ShownSizes } from './shown-sizes.ts';

export interface MediaPathsOptions {
  readonly ports: Ports;
  readonly mesh: Mesh;
  readonly room: string;
  readonly api: () => string;
  /** The end-to-end key of the room's link. */
  readonly secret: string | null;
  readonly requestRelay: RelayedRoomOptions['ask'];
  readonly onChange: () => void;
}

/** A participant who has just come has sent no signal yet. */
const NO_SIGNAL_MS = 2000;
/** The relays should carry the media after this time; until they do, links do, if these are fewer than `MESH_MAX`. */
const OVERDUE_MS = 6000;
const MESH_MAX = 8;
const TICK_MS = 500;

export class MediaPaths {
  readonly #options: MediaPathsOptions;
  readonly #pairs = new Map<ParticipantId, PairState>();
  readonly #sizes = new ShownSizes();
  /** Of the participants whose volume was set. */
  readonly #volumes = new Map<ParticipantId, number>();
  readonly #roomPath: RoomPath;
  readonly #relays: RelaySession;
  readonly #meter = new CallMeter();
  readonly #reportMeter = new CallMeter();
  #me: ParticipantId | null = null;
  #members: ReadonlyMap<ParticipantId, HeardMember> = new Map();
  #local: LocalMedia;
  #secret: string | null;
  #cancelTick: () => void = () => undefined;
  #updating = false;
  #linkCode: LinkCode | null = null;
  /** Media of some pair goes through relays. */
  #relayed = false;
  /** Of how many participants that are here the media is overdue. */
  #overdue = 0;

  constructor(local: LocalMedia, options: MediaPathsOptions) {
    const { clock, relayedMedia } = options.ports;
    this.#options = options;
    this.#local = local;
    this.#secret = options.secret;
    this.#roomPath = new RoomPath(clock, () => {
      this.#relays.forgetFailure();
      this.#updateAndNotify();
    });
    this.#relays = new RelaySession({
      clock,
      load: relayedMedia,
      enter: (media) => this.#enter(media),
      onLoaded: () => this.#updateAndNotify(),
    });
  }

  get path(): CallPath {
    const encrypted = this.#secret !== null;
    if (this.#roomPath.path === 'sfu') {
      if (this.#options.ports.relayedMedia === null) return { kind: 'mesh', reason: 'no-codecs' };
      if (this.#relays.able) return { kind: 'sfu', reason: 'people', encrypted };
      return { kind: 'mesh', reason: this.#relays.hasFailed ? 'not-loaded' : 'no-relay' };
    }
    if (this.#some(({ unreachable }) => unreachable))
      return { kind: 'sfu', reason: 'unreachable', encrypted };
    return this.#relayed ? { kind: 'sfu', reason: 'requested', encrypted } : { kind: 'mesh', reason: null };
  }

  get mix(): MediaStream | null {
    return this.#relays.room?.mix ?? null;
  }

  /** Whether to create a link with a new participant at once. */
  opens(participant: ParticipantId): boolean {
    return this.#planFor(participant).link === 'open';
  }

  /** If the media of all others is overdue, each of them misses only ours, and would link to us. */
  accepts(participant: ParticipantId): boolean {
    const pair = this.#pairs.get(participant);
    if (pair !== undefined && this.#isOverdue(pair) && this.#overdue >= MESH_MAX) return false;
    return this.#planFor(participant).link !== 'close';
  }

  follow(me: ParticipantId | null, members: ReadonlyMap<ParticipantId, HeardMember>, max: number): void {
    const { ports } = this.#options;
    const first = me !== this.#me;
    if (first) this.close();
    this.#me = me;
    this.#members = members;
    this.#roomPath.setSize(members.size + 1, max);
    for (const participant of this.#pairs.keys())
      if (!members.has(participant)) this.#pairs.delete(participant);
    this.#sizes.keep(members);
    const pair = (): PairState => newPair(this.#roomPath.path, ports.clock.now(), ports.createStream);
    for (const participant of members.keys())
      if (!this.#pairs.has(participant)) this.#pairs.set(participant, pair());
    if (me === null || ports.relayedMedia === null) return;
    if (first) this.#roomPath.decide();
    this.#roomPath.settle();
  }

  /** After the mesh followed the roster as well. */
  update(): void {
    if (this.#me === null || this.#options.ports.relayedMedia === null || this.#updating) return;
    this.#updating = true;
    try {
      this.#countOverdue();
      for (const [participant, pair] of this.#pairs) this.#apply(participant, pair);
      this.#followRelays();
      for (const [participant, pair] of this.#pairs) this.#mix(participant, pair);
      this.#noteRelayed();
    } finally {
      this.#updating = false;
    }
    this.#schedule();
  }

  receive(from: ParticipantId, signal: RelaySignal): void {
    const pair = this.#pairs.get(from);
    if (pair === undefined) return;
    if (signal.type === 'key') return this.#relays.room?.receiveKey(from, signal);
    receiveSignal(pair, signal);
    this.#updateAndNotify();
  }

  /** Our socket or that of another participant returned: signals sent in between are lost. */
  repeatSignals(): void {
    for (const pair of this.#pairs.values()) forgetSent(pair);
    this.update();
  }

  setMedia(local: LocalMedia): void {
    this.#local = local;
    this.#relays.room?.setMedia(local);
  }

  /** Sets the key; from then on our media is a new broadcast. */
  setSecret(secret: string): void {
    if (secret === this.#secret) return;
    this.#secret = secret;
    this.#relays.end();
    this.#updateAndNotify();
  }

  show(participant: ParticipantId, size: Size | null): void {
    if (this.#sizes.set(participant, size)) this.update();
  }

  setVolume(participant: ParticipantId, volume: number): void {
    const next = Math.min(1, Math.max(0, volume));
    if (Number.isNaN(next) || next === this.#volumes.get(participant)) return;
    this.#volumes.set(participant, next);
    this.update();
  }

  shown(participant: ParticipantId): PersonMedia {
    const { mesh, ports } = this.#options;
    const pair = ports.relayedMedia === null ? null : (this.#pairs.get(participant) ?? null);
    const overdue = pair !== null && this.#isOverdue(pair);
    return shownOf(pair, { link: mesh.link(participant), relayed: this.#person(participant), overdue });
  }

  /** `null` also where some media goes from peer to peer and some through relays: no code says anything about both. */
  async securityCode(): Promise<SecurityCode | null> {
    const { mesh } = this.#options;
    if (mesh.links === 0) return this.#relays.room?.securityCode() ?? null;
    const isMixed = this.#some(usesRelays);
    const linkCode = this.#me === null || isMixed ? null : await this.#loadLinkCode();
    return linkCode?.of(this.#me ?? '', mesh.ends) ?? null;
  }

  /** Where it does not load, the next call tries again. */
  async #loadLinkCode(): Promise<LinkCode | null> {
    const { ports, room } = this.#options;
    this.#linkCode ??= await import('../mesh/link-code.ts').then(
      (loaded) => new loaded.LinkCode(ports.subtle, room),
      () => null,
    );
    return this.#linkCode;
  }

  measure(): Promise<CallFigures> {
    return this.#measuredBy(this.#meter);
  }

  /** As `measure`, since the call before of this one: one caller's rates do not end the other's. */
  measureForReports(): Promise<CallFigures> {
    return this.#measuredBy(this.#reportMeter);
  }

  #measuredBy(meter: CallMeter): Promise<CallFigures> {
    const { mesh, ports } = this.#options;
    const paths = [...this.#pairs].map(([participant, { shown }]) => ({
      participant,
      link: mesh.link(participant),
      relayed: shown === 'sfu' ? this.#person(participant) : undefined,
    }));
    return meter.measure(paths, this.#relays.room, ports.clock);
  }

  close(): void {
    this.#cancelTick();
    this.#roomPath.close();
    this.#relays.close();
    this.#pairs.clear();
    this.#relayed = false;
  }

  #updateAndNotify(): void {
    this.update();
    this.#options.onChange();
  }

  #person(participant: ParticipantId): RelayedPerson | undefined {
    return this.#relays.room?.person(participant);
  }

  #planFor(participant: ParticipantId): Plan {
    const pair = this.#pairs.get(participant);
    const none = pair === undefined || this.#options.ports.relayedMedia === null;
    return none ? { link: 'open', subscribe: false, shown: 'mesh' } : this.#plan(participant, pair);
  }

  #plan(participant: ParticipantId, pair: PairState): Plan {
    const { ports, mesh } = this.#options;
    const { able } = this.#relays;
    const { path } = this.#roomPath;
    const now = ports.clock.now();
    const link = mesh.link(participant);
    // No link is created if the room is about to move to the relays because a participant joined.
    if (this.#roomPath.leavesMesh && able && link === undefined)
      return { link: 'keep', subscribe: false, shown: 'mesh' };
    const known = pair.lastSignal !== null || now - pair.metAt > NO_SIGNAL_MS;
    const many = this.#members.size >= MESH_MAX;
    const plan = planOf({
      mine: pair.unreachable ? 'sfu' : path,
      theirs: pair.lastSignal?.preferred ?? 'mesh',
      able: able && (known ? (pair.lastSignal?.supported ?? false) : true),
      receiving: this.#receiving(participant, pair),
      peerReceiving: pair.lastSignal?.receiving ?? false,
      flows: flows(link, this.#members.get(participant)),
      overdue: this.#isOverdue(pair) && this.#overdue < MESH_MAX,
    });
    // A relay that returns soon is better than links with every participant, which would overload the whole call.
    const lapsed = able ? pair.wasAble && pair.lastSignal?.supported === false : this.#relays.wasOpen;
    return many && lapsed && path === 'sfu' && plan.link === 'open' ? { ...plan, link: 'keep' } : plan;
  }

  #countOverdue(): void {
    const { mesh, onChange } = this.#options;
    const before = this.#overdue;
    this.#overdue = [...this.#pairs].filter(
      ([of, pair]) => this.#isOverdue(pair) && mesh.isPresent(of),
    ).length;
    // No event reports that time has passed.
    if (this.#overdue !== before) onChange();
  }

  #noteRelayed(): void {
    const relayed = this.#some(usesRelays);
    if (relayed === this.#relayed) return;
    this.#relayed = relayed;
    // No event reports that time has passed.
    this.#options.onChange();
  }

  #some(is: (pair: PairState) => boolean): boolean {
    return [...this.#pairs.values()].some(is);
  }

  #isOverdue({ relayAt }: PairState): boolean {
    return relayAt !== null && this.#options.ports.clock.now() - relayAt > OVERDUE_MS;
  }

  #receiving(participant: ParticipantId, pair: PairState): boolean {
    return pair.subscribed && (this.#person(participant)?.ready ?? false);
  }

  #apply(participant: ParticipantId, pair: PairState): void {
    const { mesh, ports } = this.#options;
    if (mesh.link(participant)?.view.status === 'failed') pair.unreachable = true;
    const plan = this.#plan(participant, pair);
    const now = ports.clock.now();
    if (plan.subscribe && !this.#receiving(participant, pair)) pair.relayAt ??= now;
    else pair.relayAt = null;
    pair.subscribed = plan.subscribe;
    pair.shown = plan.shown;
    if (plan.link === 'close') mesh.closeLink(participant);
    else if (plan.link === 'open' && mesh.isPresent(participant)) mesh.openLink(participant);
    const receiving = this.#receiving(participant, pair);
    pair.wasReceiving ||= receiving;
    this.#sendSignal(participant, pair, receiving);
  }

  #sendSignal(to: ParticipantId, pair: PairState, receiving: boolean): void {
    const { mesh, ports } = this.#options;
    if (!mesh.isPresent(to)) {
      forgetSent(pair);
      return;
    }
    const { able } = this.#relays;
    const signal = signalDue(pair, { able, receiving, path: this.#roomPath.path, now: ports.clock.now() });
    if (signal !== null) mesh.sendSignal(to, signal);
  }

  /** As for video: media of the relays is played even before it is complete if there is no other. */
  #mix(participant: ParticipantId, pair: PairState): void {
    const linked = (this.#options.mesh.link(participant)?.stream ?? null) !== null;
    const mixed = pair.shown === 'sfu' || ((pair.mixed || pair.subscribed) && !linked);
    this.#person(participant)?.mix(mixed ? (this.#volumes.get(participant) ?? 1) : 0);
    this.#person(participant)?.silence(this.#members.get(participant)?.muted ?? false);
    if (mixed === pair.mixed) return;
    pair.mixed = mixed;
    // Time alone may have changed them, which no event reports.
    this.#options.onChange();
  }

  #followRelays(): void {
    const pairs = [...this.#pairs];
    const needed = this.#roomPath.path === 'sfu' || this.#some(usesRelays);
    const missed = needed || this.#some(({ unreachable }) => unreachable);
    this.#relays.follow({ needed, missed });
    const subscribed = pairs.filter(([, pair]) => pair.subscribed).map(([participant]) => participant);
    this.#relays.room?.follow(this.#sizes.of(subscribed, this.#members), new Set(this.#members.keys()));
  }

  #enter(media: RelayedMedia): RelayedRoom {
    const { room, api, mesh, requestRelay: ask } = this.#options;
    const onChange = (): void => this.#updateAndNotify();
    // The session ends with the participant, so that it exists here.
    const me = this.#me ?? '';
    const sendKey = mesh.sendSignal.bind(mesh);
    return media.enter(this.#local, { room, me, api, secret: this.#secret, ask, sendKey, onChange });
  }

  /** Time alone changes the plan only while a change is pending. */
  #schedule(): void {
    this.#cancelTick();
    const moving = [...this.#pairs.values()].some(
      (pair) => pair.lastSignal === null || pair.relayAt !== null,
    );
    if (this.#relays.isIdle && this.#roomPath.path === 'mesh') return;
    this.#cancelTick = this.#options.ports.clock.after(moving ? TICK_MS : 2 * TICK_MS, () => this.update());
  }
}
