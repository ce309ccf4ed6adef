/** One RTCPeerConnection with one participant, from its first offer to its end: sent and received media and its quality. Never reused. */
import { countsOf, type Counts } from '../measure/figures.ts';
import { Negotiation, type NegotiationOptions } from './negotiation.ts';
import type { Role } from '../media.ts';
import type { RoleOfMid } from './payload.ts';
import type { LevelMeter, Ports } from '../ports.ts';
import { judge, read, type Reading, type Verdict } from './quality.ts';
import { MediaSilence } from './media-silence.ts';
import { Senders, type Outgoing, type StreamNames } from './senders.ts';

export interface PeerOptions {
  readonly ports: Ports;
  readonly session: number;
  /** The starter creates the session and is the polite side. */
  readonly starter: boolean;
  readonly configuration: RTCConfiguration;
  readonly names: StreamNames;
  readonly media: Outgoing;
  readonly send: NegotiationOptions['send'];
  /** Whether the other participant signals that it sends audio or video. */
  isSending(): boolean;
  /** Whether an owner muted the other participant: its sounds are received as silence. SPEC rule MOD-15. */
  isMuted(): boolean;
  onState(state: RTCPeerConnectionState): void;
  onChannel(channel: RTCDataChannel): void;
  /** The streams or the quality changed. */
  onChange(): void;
  onStuck(): void;
  /** Connected, but the media that the other participant signals no longer arrives. */
  onSilent(): void;
}

/** The session descriptions of both ends, which name their certificates: DTLS accepts no other ones. */
export interface Ends {
  readonly local: string;
  readonly remote: string;
}

/** Often enough to notice a change of network, and cheap in a mesh of connections. */
const STATS_MS = 2000;
const LISTEN_MS = 250;

export class Peer {
  readonly negotiation: Negotiation;
  readonly connection: RTCPeerConnection;
  readonly session: number;
  stream: MediaStream | null = null;
  screen: MediaStream | null = null;
  verdict: Verdict | null = null;
  readonly #options: PeerOptions;
  readonly #senders: Senders;
  readonly #onStateChange = (): void => this.#stateChanged();
  #reading: Reading | undefined;
  #cancelStats: (() => void) | null = null;
  #cancelListening: (() => void) | null = null;
  readonly #silence = new MediaSilence();
  #receivers: readonly RTCRtpReceiver[] = [];
  #theirRoles: readonly RoleOfMid[] = [];
  #voice: RTCRtpReceiver | null = null;
  #meter: LevelMeter | null = null;
  #closed = false;

  constructor(options: PeerOptions) {
    const { ports, session, starter } = options;
    this.#options = options;
    this.session = session;
    this.connection = ports.createConnection(options.configuration);
    this.#senders = new Senders(this.connection, options.names, options.media);
    this.connection.addEventListener('connectionstatechange', this.#onStateChange);
    this.connection.addEventListener('datachannel', ({ channel }) => options.onChannel(channel));
    this.negotiation = new Negotiation({
      connection: this.connection,
      session,
      // Chromium shows no video on a side that rolls back an offer before one of its own was answered.
      polite: starter,
      clock: ports.clock,
      send: (signal) => options.send(signal),
      roles: () => this.#senders.roles(),
      onRemote: (roles) => this.#remoteDescribed(roles),
      onStable: () => this.#senders.settled(),
      onStuck: () => options.onStuck(),
    });
    if (starter) this.#senders.open();
  }

  setMedia(media: Outgoing): void {
    this.#senders.set(media);
  }

  setIceServers(iceServers: RTCIceServer[]): void {
    this.connection.setConfiguration({ ...this.#options.configuration, iceServers });
  }

  silence(): void {
    const enabled = !this.#options.isMuted();
    for (const { track } of this.#receivers) if (track.kind === 'audio') track.enabled = enabled;
  }

  get silent(): boolean {
    return this.#silence.lasts;
  }

  /** Loudness of the participant, 0 to 1: the value of the browser if it has one, which costs nothing. */
  level(): number {
    const voice = this.#voice;
    if (voice === null || this.connection.connectionState !== 'connected') return 0;
    const levels = voice.getSynchronizationSources().flatMap(({ audioLevel }) => audioLevel ?? []);
    if (levels.length > 0) return Math.min(1, Math.max(...levels));
    this.#meter ??= this.#options.ports.measureLevel?.(voice.track) ?? null;
    return this.#meter?.read() ?? 0;
  }

  /** `null` before the two were connected. */
  get ends(): Ends | null {
    const { connectionState, currentLocalDescription, currentRemoteDescription } = this.connection;
    if (!['connected', 'disconnected'].includes(connectionState)) return null;
    if (currentLocalDescription === null || currentRemoteDescription === null) return null;
    return { local: currentLocalDescription.sdp, remote: currentRemoteDescription.sdp };
  }

  async counts(): Promise<Counts> {
    const report = await this.connection.getStats().catch(() => undefined);
    const byMid = (roles: readonly RoleOfMid[]): ReadonlyMap<string, Role> =>
      new Map(roles.map(({ mid, role }) => [mid, role]));
    return countsOf(report ?? [], { received: byMid(this.#theirRoles), sent: byMid(this.#senders.roles()) });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.negotiation.close();
    this.#cancelStats?.();
    this.#cancelListening?.();
    this.#meter?.close();
    this.connection.removeEventListener('connectionstatechange', this.#onStateChange);
    this.connection.close();
  }

  #remoteDescribed(roles: readonly RoleOfMid[]): void {
    if (!this.#options.starter) this.#senders.adopt(roles);
    this.#theirRoles = roles;
    const receivers = new Map<Role, RTCRtpReceiver>();
    for (const { mid, role } of roles) {
      const transceiver = this.connection.getTransceivers().find((one) => one.mid === mid);
      const kind = role === 'camera' || role === 'screen' ? 'video' : 'audio';
      if (transceiver?.receiver.track.kind === kind) receivers.set(role, transceiver.receiver);
    }
    this.#receivers = [...receivers.values()];
    this.silence();
    this.#voice = receivers.get('microphone') ?? null;
    this.stream = this.#gather(this.stream, receivers, ['microphone', 'camera']);
    this.screen = this.#gather(this.screen, receivers, ['screen', 'screen-audio']);
    this.#options.onChange();
  }

  /** The stream stays the same object; only new tracks are added. */
  #gather(
    known: MediaStream | null,
    receivers: ReadonlyMap<Role, RTCRtpReceiver>,
    roles: readonly Role[],
  ): MediaStream | null {
    const tracks = roles.flatMap((role) => receivers.get(role)?.track ?? []);
    if (tracks.length === 0) return known;
    const stream = known ?? this.#options.ports.createStream();
    const present = stream.getTracks();
    for (const track of tracks) if (!present.includes(track)) stream.addTrack(track);
    return stream;
  }

  #stateChanged(): void {
    const state = this.connection.connectionState;
    if (state === 'connected' && this.#cancelStats === null) void this.#measure();
    if (state === 'connected' && this.#cancelListening === null) this.#listen();
    this.#options.onState(state);
  }

  #listen(): void {
    const { clock } = this.#options.ports;
    const packets = this.#receivers.flatMap((receiver) => receiver.getSynchronizationSources());
    const newest = packets.length > 0 ? Math.max(...packets.map(({ timestamp }) => timestamp)) : undefined;
    this.#cancelListening = clock.after(LISTEN_MS, () => this.#listen());
    if (this.#silence.begins(newest, this.#options.isSending(), clock.now())) this.#options.onSilent();
  }

  async #measure(): Promise<void> {
    const report = await this.connection.getStats().catch(() => undefined);
    if (this.#closed) return;
    const reading = report === undefined ? undefined : read(report);
    if (reading !== undefined) {
      this.verdict = judge(reading, this.#reading);
      this.#reading = reading;
      this.#options.onChange();
    }
    this.#cancelStats = this.#options.ports.clock.after(STATS_MS, () => void this.#measure());
  }
}
