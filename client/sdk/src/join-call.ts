/** A call: combines the connection to the room, roster, chat and media into one snapshot. */
import type { ParticipantId } from '@parley/protocol/ids';
import { CHAT_LIMITS } from '@parley/protocol/chat-limits';
import { REACTIONS, type Media } from '@parley/protocol/people';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import type { IceOffer } from '@parley/protocol/http';
import type {
  Call,
  CallConnection,
  CallFigures,
  CallOptions,
  CallSnapshot,
  DataListener,
  SendOptions,
} from './call.ts';
import type { Data } from './data/data.ts';
import { DataSession } from './data/data-session.ts';
import { Connection } from './signaling/connection.ts';
import { recall } from './signaling/memory.ts';
import { IceRenewal } from './mesh/ice-renewal.ts';
import { toRtc } from './mesh/ice-servers.ts';
import { Mesh } from './mesh/mesh.ts';
import { QualityReports } from './measure/quality-reports.ts';
import type { LocalMedia, Size } from './media.ts';
import { MediaPaths } from './paths/media-paths.ts';
import { RelayRequests } from './paths/relay-requests.ts';
import type { Ports, SecurityCode } from './ports.ts';
import { ChatSession } from './room/chat-session.ts';
import { Listeners } from './room/listeners.ts';
import { LocalState } from './room/local-state.ts';
import { moderation, type Moderation } from './room/moderation.ts';
import { handQueue, nextHand } from './room/hands.ts';
import { People } from './room/people.ts';
import { Reactions } from './room/reactions.ts';
import { RoomState } from './room/room-state.ts';
import { RosterKeeper } from './room/roster-keeper.ts';

/** Joins a room, and reconnects after every interruption until `leave()` or until the service ends the call with a code. */
export function joinCall(options: CallOptions, ports: Ports): Call {
  return new JoinedCall(options, ports);
}

/** With it begin the ids of directed messages that carry data. */
const DATA_ID = 'data-';

class JoinedCall implements Call {
  readonly #moderation: Moderation;
  readonly #ownerKey: string | undefined;
  readonly #room: string;
  readonly #connection: Connection;
  readonly #mesh: Mesh;
  readonly #paths: MediaPaths;
  readonly #local: LocalState;
  readonly #roster: RosterKeeper;
  readonly #people: People;
  readonly #chat: ChatSession;
  readonly #reactions: Reactions;
  readonly #relayRequests: RelayRequests;
  readonly #iceRenewal: IceRenewal;
  readonly #quality: QualityReports;
  readonly #reports: boolean;
  readonly #listeners = new Listeners();
  readonly #data: DataSession;
  #state: CallConnection = { status: 'joining' };
  readonly #roomState = new RoomState();
  #limits: Pick<Welcome['limits'], 'nameChars' | 'chatChars' | 'meshParticipants'> = {
    nameChars: CHAT_LIMITS['name.chars'].value,
    chatChars: CHAT_LIMITS['chat.chars'].value,
    // Before the welcome no other participant is known, and the room stays in the mesh.
    meshParticipants: Number.POSITIVE_INFINITY,
  };
  #snapshot: CallSnapshot | null = null;

  constructor(options: CallOptions, ports: Ports) {
    const { room, name, microphone, camera, mediaKey = null, reports = true } = options;
    const { clock, random } = ports;
    const send = this.#send.bind(this);
    const onChange = (): void => this.#changed();
    this.#room = room;
    this.#reports = reports;
    this.#ownerKey = options.ownerKey;
    this.#moderation = this.#moderationOf(room, ports);
    const hand = recall(options.memory, room)?.hand ?? 0;
    this.#local = new LocalState(name, { microphone, camera, screen: null }, hand, send);
    this.#reactions = new Reactions(clock, onChange);
    this.#chat = new ChatSession({ clock, random, send });
    this.#roster = new RosterKeeper(clock, () => {
      this.#followRoster();
      this.#changed();
    });
    this.#mesh = this.#createMesh(options, ports);
    this.#data = new DataSession(mediaKey, {
      room,
      ports,
      mesh: this.#mesh,
      me: () => this.#roster.now.me,
      members: () => this.#roster.now.members,
    });
    this.#paths = new MediaPaths(this.#local.tracks, {
      ports,
      mesh: this.#mesh,
      room,
      api: () => this.#connection.api,
      secret: mediaKey,
      requestRelay: (without, isLost) => this.#relayRequests.request(without, isLost),
      onChange,
    });
    this.#people = new People({ clock, media: (participant) => this.#paths.shown(participant), onChange });
    this.#iceRenewal = new IceRenewal({ clock, random, request: () => void send({ type: 'ice' }) });
    this.#relayRequests = new RelayRequests(clock, send);
    this.#quality = new QualityReports({
      clock,
      measure: () => this.#paths.measureForReports(),
      links: () => this.#people.list().map(({ participant, link }) => [participant, link] as const),
      isConnected: () => this.#connection.connected,
      send,
    });
    this.#connection = this.#createConnection(options, ports);
    this.#connection.start();
  }

  snapshot(): CallSnapshot {
    this.#snapshot ??= {
      connection: this.#state,
      room: this.#room,
      view: this.#roomState.view,
      me: {
        participant: this.#roster.now.me,
        name: this.#local.name,
        media: this.#local.media,
        ...this.#role,
      },
      allMuted: this.#roomState.allMuted,
      path: this.#paths.path,
      mix: this.#paths.mix,
      people: this.#people.list(),
      hands: this.#hands,
      reactions: this.#reactions.shown,
      lobby: this.#roomState.lobby,
      muteRequests: this.#roomState.muteRequests,
      chat: this.#chat.log,
    };
    return this.#snapshot;
  }

  subscribe(listener: () => void): () => void {
    return this.#listeners.subscribe(listener);
  }

  setMicrophone(microphone: MediaStreamTrack | null): void {
    this.#setTracks({ ...this.#local.tracks, microphone });
  }

  setCamera(camera: MediaStreamTrack | null): void {
    this.#setTracks({ ...this.#local.tracks, camera });
  }

  setScreen(screen: MediaStream | null): void {
    this.#setTracks({ ...this.#local.tracks, screen });
  }

  showCamera(participant: ParticipantId, size: Size | null): void {
    this.#paths.show(participant, size);
  }

  setVolume(participant: ParticipantId, volume: number): void {
    this.#paths.setVolume(participant, volume);
  }

  setMediaKey(key: string): void {
    this.#data.secret = key;
    this.#paths.setSecret(key);
  }

  securityCode(): Promise<SecurityCode | null> {
    return this.#paths.securityCode();
  }

  measure(): Promise<CallFigures> {
    return this.#paths.measure();
  }

  rename(name: string): void {
    if (this.#local.rename(name, this.#limits.nameChars)) this.#changed();
  }

  sendChat(text: string): boolean {
    const { me: from } = this.#roster.now;
    if (from === null || this.#state.status === 'ended') return false;
    const added = this.#chat.send(text, { from, name: this.#local.name, maxChars: this.#limits.chatChars });
    if (added) this.#changed();
    return added;
  }

  setHand(raised: boolean): void {
    const isRaised = this.#local.media.hand !== undefined;
    if (raised === isRaised || this.#state.status === 'ended') return;
    // Without the roster its place in the queue is not known.
    if (raised && this.#roster.now.me === null) return;
    this.#local.setHand(raised ? nextHand(this.#otherMedia()) : 0);
    this.#connection.remember();
    this.#changed();
  }

  react(emoji: string): boolean {
    const { me } = this.#roster.now;
    if (me === null || !REACTIONS.includes(emoji) || !this.#send({ type: 'reaction', emoji })) return false;
    this.#reactions.add(me, emoji);
    this.#changed();
    return true;
  }

  send(data: Data, options?: SendOptions): Promise<readonly ParticipantId[]> {
    return this.#data.send(data, options);
  }

  onData(listener: DataListener): () => void {
    return this.#data.listen(listener);
  }

  get #hands(): readonly ParticipantId[] {
    const { me } = this.#roster.now;
    const others = this.#otherMedia();
    return handQueue(me === null ? others : [...others, [me, this.#local.media]]);
  }

  #otherMedia(): (readonly [ParticipantId, Media])[] {
    return [...this.#roster.now.members.values()].map(({ participant, media }) => [participant, media]);
  }

  leave(): void {
    this.#connection.leave();
  }

  #send(message: Parameters<Connection['send']>[0]): boolean {
    return this.#connection.send(message);
  }

  get moderation(): Moderation | null {
    return this.#ownerKey !== undefined || this.#role.coOwner ? this.#moderation : null;
  }

  #moderationOf(room: string, ports: Ports): Moderation {
    // A key that is not that of the room is worth less than the token of a co-owner.
    const credential = (): string | undefined =>
      this.#role.coOwner ? (this.#connection.token ?? undefined) : this.#ownerKey;
    return moderation({ api: () => this.#connection.api, room, credential }, ports, (view) => {
      if (this.#state.status === 'ended') return;
      this.#roomState.view = view;
      this.#changed();
    });
  }

  #createMesh(options: CallOptions, ports: Ports): Mesh {
    let directedCount = 0;
    return new Mesh(this.#local.tracks, {
      ports,
      iceTransportPolicy: options.iceTransportPolicy ?? 'all',
      connected: () => this.#connection.connected,
      send: (to, payload, type) => {
        directedCount += 1;
        const id = `${type === 'data' ? DATA_ID : ''}${directedCount.toString(36)}`;
        this.#connection.sendDirected(to, id, payload);
      },
      opens: (participant) => this.#paths.opens(participant),
      accepts: (participant) => this.#paths.accepts(participant),
      onRelaySignal: (from, signal) => this.#paths.receive(from, signal),
      onDataSignal: (from, signal) => this.#data.receive(from, signal),
      onChannel: (from, channel) => this.#data.read(from, channel),
      onBroken: () => this.#iceRenewal.pathBroke(),
      onChange: () => {
        this.#paths.update();
        this.#changed();
      },
    });
  }

  #createConnection(options: CallOptions, ports: Ports): Connection {
    return new Connection(options, ports, {
      onState: (state) => this.#stateChanged(state),
      onWelcome: (welcome, how) => this.#welcomed(welcome, how),
      onMessage: (message) => this.#receive(message),
      onDirected: (from, payload) => this.#mesh.receive(from, payload),
      onEnter: () => this.#local.forgetHand(),
      introduction: () => ({
        name: this.#local.name,
        media: this.#local.media,
        chat: this.#chat.lastLines(),
      }),
    });
  }

  get #role() {
    return this.#roomState.role(this.#roster.now.me);
  }

  #setTracks(wanted: LocalMedia): void {
    const tracks = this.#role.muted ? { ...wanted, microphone: null } : wanted;
    this.#mesh.setMedia(tracks);
    this.#paths.setMedia(tracks);
    if (this.#local.setTracks(tracks)) this.#changed();
  }

  #stateChanged(state: CallConnection): void {
    this.#state = state;
    if (state.status === 'lobby-waiting' || state.status === 'arriving') this.#quality.waits();
    if (state.status === 'ended') this.#close();
    this.#changed();
  }

  #welcomed(welcome: Welcome, { fresh }: { readonly fresh: boolean }): void {
    const reloaded = !fresh && this.#roster.now.me === null;
    this.#roster.welcomed(welcome, fresh);
    this.#limits = welcome.limits;
    this.#roomState.welcomed(welcome, fresh);
    this.#obeyMute();
    this.#local.correct(welcome);
    this.#chat.welcomed(welcome);
    this.#takeIce(welcome);
    this.#followRoster();
    if (reloaded) this.#mesh.reloaded();
    else this.#mesh.reachableAgain();
    this.#paths.repeatSignals();
    this.#relayRequests.renew();
    this.#quality.welcomed(this.#reports ? welcome.reportEveryMs : undefined);
  }

  #obeyMute(): void {
    if (this.#role.muted) this.#setTracks(this.#local.tracks);
  }

  #receive(message: ServerMessage): void {
    this.#receiveOwn(message);
    this.#receiveMedia(message);
    const { me } = this.#roster.now;
    this.#chat.receive(message, me);
    const rolesChanged = this.#roomState.receive(message, me);
    if (rolesChanged) this.#obeyMute();
    if (this.#roster.receive(message) || rolesChanged) this.#followRoster();
    if (message.type !== 'pong') this.#changed();
  }

  #receiveOwn(message: ServerMessage): void {
    if (message.type === 'lobby-waiting') {
      // A participant in the lobby is in no roster and receives none, even if it was in the room before.
      this.#roster.clear();
      this.#followRoster();
    } else if (message.type === 'hand-lowered') this.setHand(false);
    else if (message.type === 'reaction') this.#reactions.add(message.from, message.emoji);
  }

  #receiveMedia(message: ServerMessage): void {
    if (message.type === 'ice') this.#takeIce(message);
    else if (message.type === 'relay') this.#relayRequests.answered(message);
    // Data that was not delivered says nothing about a link.
    else if (message.type === 'undelivered' && !message.id.startsWith(DATA_ID))
      this.#mesh.undelivered(message);
    else if (message.type === 'error' && message.code === 'TOO_MANY_ICE_REQUESTS')
      this.#iceRenewal.refused(message.retryAfterMs ?? 0);
  }

  #followRoster(): void {
    const { me, members: listed } = this.#roster.now;
    const members = this.#roomState.heard(listed);
    this.#paths.follow(me, members, this.#limits.meshParticipants);
    this.#mesh.follow(me, members);
    this.#paths.update();
    this.#people.follow(members);
  }

  /** Existing connections use the new servers at their next ICE restart; existing allocations keep their earlier credentials. */
  #takeIce(offer: IceOffer): void {
    this.#mesh.setIceServers(toRtc(offer.iceServers));
    this.#iceRenewal.received(offer);
  }

  #changed(): void {
    this.#snapshot = null;
    this.#quality.follow();
    this.#listeners.notify();
  }

  #close(): void {
    this.#people.close();
    this.#reactions.close();
    this.#roster.close();
    this.#iceRenewal.close();
    this.#relayRequests.close();
    this.#quality.close();
    this.#paths.close();
    this.#mesh.close();
    this.#data.close();
  }
}
