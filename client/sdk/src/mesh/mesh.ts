/** A link with each participant of the room, and the signals between links and the socket: one ordered queue per participant and direction. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Media } from '@parley/protocol/people';
import type { Undelivered } from '@parley/protocol/server-messages';
import { PeerLink } from './link.ts';
import { decodeSignal, encodeSignal, type DataSignal, type RelaySignal, type Signal } from './payload.ts';
import type { Ports } from '../ports.ts';
import type { HeardMember } from '../room/mutes.ts';
import { budgetFor } from './budget.ts';
import type { Ends } from './peer.ts';
import type { LocalMedia } from '../media.ts';
import type { Outgoing, StreamNames } from './senders.ts';

export interface MeshOptions {
  readonly ports: Ports;
  readonly iceTransportPolicy: RTCIceTransportPolicy;
  connected(): boolean;
  send(to: ParticipantId, payload: string | Uint8Array<ArrayBuffer>, type: Signal['type']): void;
  /** Whether to create a link with a new participant at once, and on its request. */
  opens(participant: ParticipantId): boolean;
  accepts(participant: ParticipantId): boolean;
  onRelaySignal(from: ParticipantId, signal: RelaySignal): void;
  onDataSignal(from: ParticipantId, signal: DataSignal): void;
  /** A data channel of the other side. */
  onChannel(from: ParticipantId, channel: RTCDataChannel): void;
  /** The path to a participant broke. */
  onBroken(): void;
  onChange(): void;
}

type Payload = string | Uint8Array<ArrayBuffer>;

interface Neighbour {
  /** `null` while its media goes through relays. */
  link: PeerLink | null;
  opening: boolean;
  present: boolean;
  media: Media;
  /** By an owner. */
  muted: boolean;
  /** Received signals, which are inflated in order. */
  arriving: Promise<void>;
  waiting: number;
  leaving: Promise<void>;
}

/** A negotiation takes about ten messages each way: more queued messages are a flood. */
const MAX_WAITING = 200;
/** Signals may arrive before the message that their sender joined. */
const MAX_UNKNOWN_SENDERS = 16;
const MAX_UNKNOWN_SIGNALS = 16;
const UNKNOWN_SENDER_MS = 10_000;

export class Mesh {
  readonly #options: MeshOptions;
  readonly #names: StreamNames;
  readonly #neighbours = new Map<ParticipantId, Neighbour>();
  readonly #unknownSenders = new Map<ParticipantId, Payload[]>();
  #me: ParticipantId | null = null;
  #media: LocalMedia;
  #sharedOutTo = 0;
  #iceServers: RTCIceServer[] = [];

  constructor(media: LocalMedia, options: MeshOptions) {
    this.#options = options;
    this.#media = media;
    this.#names = { person: options.ports.createStream(), screen: options.ports.createStream() };
  }

  link(participant: ParticipantId): PeerLink | undefined {
    return this.#neighbours.get(participant)?.link ?? undefined;
  }

  isPresent(participant: ParticipantId): boolean {
    return this.#neighbours.get(participant)?.present ?? false;
  }

  openLink(participant: ParticipantId): void {
    const neighbour = this.#neighbours.get(participant);
    if (neighbour === undefined || neighbour.link !== null || this.#me === null) return;
    this.#link(neighbour, this.#me, participant);
    this.#shareOut();
  }

  closeLink(participant: ParticipantId): void {
    const neighbour = this.#neighbours.get(participant);
    if (neighbour === undefined || neighbour.link === null) return;
    neighbour.link.close();
    neighbour.link = null;
    this.#shareOut();
  }

  /** `false`: dropped, as there is no socket or the participant is away. Callers that need the signal send it again. */
  sendSignal(to: ParticipantId, signal: RelaySignal | DataSignal): boolean {
    const reaches = this.isPresent(to) && this.#options.connected();
    if (reaches) this.#send(to, signal);
    return reaches;
  }

  /** Creates links with new participants and closes those of participants who left. A new `me` starts over. */
  follow(me: ParticipantId | null, members: ReadonlyMap<ParticipantId, HeardMember>): void {
    if (me !== this.#me) this.close();
    this.#me = me;
    for (const [participant, neighbour] of this.#neighbours) {
      if (members.has(participant)) continue;
      neighbour.link?.close();
      this.#neighbours.delete(participant);
    }
    if (me !== null) for (const member of members.values()) this.#meet(me, member);
    this.#shareOut();
  }

  setMedia(media: LocalMedia): void {
    this.#media = media;
    this.#setLinkMedia();
  }

  /** Applies also to later links: call it before `follow`. */
  setIceServers(servers: RTCIceServer[]): void {
    this.#iceServers = servers;
    for (const { link } of this.#neighbours.values()) link?.setIceServers(servers);
  }

  /** Our own socket is open again. */
  reachableAgain(): void {
    for (const { link, present } of this.#neighbours.values()) if (present) link?.reachableAgain();
  }

  /** This page was reloaded. */
  reloaded(): void {
    for (const { link } of this.#neighbours.values()) link?.reloaded();
  }

  undelivered({ to, reason }: Undelivered): void {
    this.#neighbours.get(to)?.link?.undelivered(reason);
  }

  receive(from: ParticipantId, payload: Payload): void {
    const neighbour = this.#neighbours.get(from);
    if (neighbour === undefined) {
      this.#keepSignal(from, payload);
      return;
    }
    if (neighbour.waiting >= MAX_WAITING) return;
    neighbour.waiting += 1;
    neighbour.arriving = neighbour.arriving.then(async () => {
      const signal = await decodeSignal(payload, this.#options.ports.compression);
      neighbour.waiting -= 1;
      if (signal !== undefined && this.#neighbours.get(from) === neighbour) this.#take(from, signal);
    });
  }

  close(): void {
    for (const { link } of this.#neighbours.values()) link?.close();
    this.#neighbours.clear();
    this.#unknownSenders.clear();
  }

  /** Divides the bit rate: each connection sends less as the mesh grows, and more as it shrinks. */
  #shareOut(): void {
    if (this.links === this.#sharedOutTo) return;
    this.#sharedOutTo = this.links;
    this.#setLinkMedia();
  }

  /** How many participants are linked from peer to peer. */
  get links(): number {
    return [...this.#neighbours.values()].filter(({ link }) => link !== null).length;
  }

  /** Of the links that are connected. */
  get ends(): ReadonlyMap<ParticipantId, Ends> {
    return new Map(
      [...this.#neighbours].flatMap(([participant, { link }]) => {
        const ends = link?.ends ?? null;
        return ends === null ? [] : [[participant, ends] as const];
      }),
    );
  }

  #take(from: ParticipantId, signal: Signal): void {
    if (signal.type === 'data') return this.#options.onDataSignal(from, signal);
    // All signals of links have one.
    if (!('session' in signal)) return this.#options.onRelaySignal(from, signal);
    const asked = signal.type === 'renew' || (signal.type === 'description' && signal.kind === 'offer');
    if (asked && this.link(from) === undefined && this.#options.accepts(from)) this.openLink(from);
    this.link(from)?.handle(signal);
  }

  #setLinkMedia(): void {
    const outgoing = this.#outgoing();
    for (const { link } of this.#neighbours.values()) link?.setMedia(outgoing);
  }

  #outgoing(): Outgoing {
    return { ...this.#media, budget: budgetFor(this.links) };
  }

  #meet(me: ParticipantId, { participant, state, media, muted }: HeardMember): void {
    const known = this.#neighbours.get(participant);
    const present = state === 'here';
    if (known !== undefined) {
      const back = present && !known.present;
      known.present = present;
      known.media = media;
      known.muted = muted;
      known.link?.silence();
      if (back) known.link?.reachableAgain();
      return;
    }
    // A participant who is away cannot answer; the link is created when it returns.
    if (!present) return;
    const nothing = Promise.resolve();
    const neighbour: Neighbour = {
      link: null,
      opening: false,
      present: true,
      media,
      muted,
      arriving: nothing,
      waiting: 0,
      leaving: nothing,
    };
    this.#neighbours.set(participant, neighbour);
    if (this.#options.opens(participant)) this.#link(neighbour, me, participant);
    const kept = this.#unknownSenders.get(participant) ?? [];
    this.#unknownSenders.delete(participant);
    for (const payload of kept) this.receive(participant, payload);
  }

  /** A link reports changes while it is created: no second one may be created then. */
  #link(neighbour: Neighbour, me: ParticipantId, participant: ParticipantId): void {
    if (neighbour.opening) return;
    neighbour.opening = true;
    neighbour.link = this.#createLink(me, participant);
    neighbour.opening = false;
  }

  #createLink(me: ParticipantId, participant: ParticipantId): PeerLink {
    const { ports, iceTransportPolicy } = this.#options;
    return new PeerLink(this.#outgoing(), {
      ports,
      starter: me > participant,
      names: this.#names,
      // Otherwise each side gathers separately for audio and video, and takes twice as many TURN allocations. SPEC rule TURN-13.
      configuration: () => ({
        iceServers: this.#iceServers,
        iceTransportPolicy,
        bundlePolicy: 'max-bundle',
        certificates: ports.certificates?.() ?? [],
      }),
      reachable: () => this.#options.connected() && (this.#neighbours.get(participant)?.present ?? true),
      isSending: () => {
        const sent = this.#neighbours.get(participant)?.media;
        return sent !== undefined && (sent.audio || sent.video || sent.screen);
      },
      isMuted: () => this.#neighbours.get(participant)?.muted ?? false,
      send: (signal) => this.#send(participant, signal),
      onChannel: (channel) => this.#options.onChannel(participant, channel),
      onBroken: () => this.#options.onBroken(),
      onChange: () => this.#options.onChange(),
    });
  }

  /**
   * Compression is asynchronous: signals are still sent in the order in which they were created. Without a socket they are created again after the
   * resume.
   */
  #send(to: ParticipantId, signal: Signal): void {
    const neighbour = this.#neighbours.get(to);
    if (neighbour === undefined || !this.#options.connected()) return;
    neighbour.leaving = neighbour.leaving.then(async () => {
      const payload = await encodeSignal(signal, this.#options.ports.compression);
      if (this.#neighbours.get(to) === neighbour) this.#options.send(to, payload, signal.type);
    });
  }

  #keepSignal(from: ParticipantId, payload: Payload): void {
    const kept = this.#unknownSenders.get(from) ?? [];
    if (kept.length === 0 && this.#unknownSenders.size >= MAX_UNKNOWN_SENDERS) return;
    if (kept.length === 0) {
      // A participant who left again or never joins occupies a place only for a short time.
      this.#options.ports.clock.after(UNKNOWN_SENDER_MS, () => {
        if (this.#unknownSenders.get(from)?.[0] === payload) this.#unknownSenders.delete(from);
      });
    }
    if (kept.length < MAX_UNKNOWN_SIGNALS) this.#unknownSenders.set(from, [...kept, payload]);
  }
}
