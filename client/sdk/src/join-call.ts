/** A call: the connection to the room, its roster and chat, and the mesh of links, put together into one snapshot. */
import type { ParticipantId } from '@parley/protocol/ids';
import { LIMITS } from '@parley/protocol/limits';
import { checkName, type Media, type Member } from '@parley/protocol/people';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import type { IceOffer, RoomView } from '@parley/protocol/http';
import type { Call, CallConnection, CallFigures, CallOptions, CallSnapshot, Person } from './call.ts';
import * as chat from './room/chat.ts';
import { Connection } from './signaling/connection.ts';
import { IceRenewal } from './mesh/ice-renewal.ts';
import { toRtc } from './mesh/ice-servers.ts';
import { lobbyAfter, type Lobby } from './room/lobby.ts';
import { Mesh } from './mesh/mesh.ts';
import { moderation, type Moderation } from './room/moderation.ts';
import type { Ports } from './ports.ts';
import { RelayAsk } from './paths/relay-ask.ts';
import { emptyRoster, expired, heard, nextExpiry, welcomed } from './room/roster.ts';
import type { LocalMedia } from './media.ts';
import { MediaPaths } from './paths/media-paths.ts';

/** Five times a second is as often as a level meter looks alive; no divisor of a second, or a beep that keeps time with it is never met. */
const LEVEL_MS = 190;
/** Smaller changes of loudness are not worth a new snapshot. */
const LEVEL_STEP = 0.02;
/** Hex digits of 96 random bits: a chat id nobody else chooses. */
const CHAT_ID_BYTES = 12;

/** Joins a room and stays in it through every interruption until `leave()` or an end that the service gave a reason for. */
export function joinCall(options: CallOptions, ports: Ports): Call {
  return new JoinedCall(options, ports);
}

class JoinedCall implements Call {
  readonly moderation: Moderation | null;
  readonly #options: CallOptions;
  readonly #ports: Ports;
  readonly #connection: Connection;
  readonly #mesh: Mesh;
  readonly #ways: MediaPaths;
  readonly #listeners = new Set<() => void>();
  #state: CallConnection = { status: 'joining' };
  #roster = emptyRoster;
  #view: RoomView | null = null;
  #owner = false;
  #lobby: Lobby = [];
  #muteRequests = 0;
  #chat: chat.ChatLog = [];
  #name: string;
  #local: LocalMedia;
  #limits: Pick<Welcome['limits'], 'nameChars' | 'chatChars' | 'meshMax'>;
  #levels = new Map<ParticipantId, number>();
  #people = new Map<ParticipantId, Person>();
  #snapshot: CallSnapshot | null = null;
  #telling = false;
  #directedCount = 0;
  readonly #relayAsk: RelayAsk;
  readonly #iceRenewal: IceRenewal;
  #cancelLevels: () => void;
  #cancelExpiry: () => void = () => undefined;

  constructor(options: CallOptions, ports: Ports) {
    this.#options = options;
    this.#ports = ports;
    this.#name = options.name;
    this.#local = { microphone: options.microphone, camera: options.camera, screen: null };
    const { api, room, ownerKey } = options;
    this.moderation =
      ownerKey === undefined
        ? null
        : moderation({ api, room, ownerKey }, ports, (view) => this.#viewChanged(view));
    this.#limits = {
      nameChars: LIMITS['name.chars'].value,
      chatChars: LIMITS['chat.chars'].value,
      meshMax: LIMITS['mesh.max'].value,
    };
    this.#mesh = new Mesh(this.#local, {
      ports,
      iceTransportPolicy: options.iceTransportPolicy ?? 'all',
      connected: () => this.#connection.connected,
      send: (to, payload) => {
        this.#directedCount += 1;
        this.#connection.sendDirected(to, this.#directedCount.toString(36), payload);
      },
      opens: (participant) => this.#ways.opens(participant),
      accepts: (participant) => this.#ways.accepts(participant),
      onPath: (from, signal) => this.#ways.receive(from, signal),
      onBroken: () => this.#iceRenewal.pathBroke(),
      onChange: () => {
        this.#ways.update();
        this.#changed();
      },
    });
    this.#ways = new MediaPaths(this.#local, {
      ports,
      mesh: this.#mesh,
      room,
      api,
      secret: options.mediaKey ?? null,
      askRelay: (without) => this.#relayAsk.ask(without),
      onChange: () => this.#changed(),
    });
    this.#connection = new Connection(options, ports, {
      onState: (state) => this.#stateChanged(state),
      onWelcome: (welcome, how) => this.#welcomed(welcome, how),
      onMessage: (message) => this.#heard(message),
      onDirected: (from, payload) => this.#mesh.receive(from, payload),
      introduction: () => ({ name: this.#name, media: this.#media, chat: chat.lastLines(this.#chat) }),
    });
    this.#iceRenewal = new IceRenewal({ ...ports, ask: () => void this.#connection.send({ type: 'ice' }) });
    this.#relayAsk = new RelayAsk(ports.clock, (message) => this.#connection.send(message));
    this.#cancelLevels = ports.clock.after(LEVEL_MS, () => this.#listen());
    this.#connection.start();
  }

  snapshot(): CallSnapshot {
    this.#snapshot ??= {
      connection: this.#state,
      room: this.#options.room,
      view: this.#view,
      me: {
        participant: this.#roster.me,
        name: this.#name,
        media: this.#media,
        owner: this.#owner,
      },
      path: this.#ways.path,
      mix: this.#ways.mix,
      people: [...this.#roster.members.values()].map((member) => this.#person(member)),
      lobby: this.#lobby,
      muteRequests: this.#muteRequests,
      chat: this.#chat,
    };
    return this.#snapshot;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  setMicrophone(microphone: MediaStreamTrack | null): void {
    this.#setLocal({ ...this.#local, microphone });
  }

  setCamera(camera: MediaStreamTrack | null): void {
    this.#setLocal({ ...this.#local, camera });
  }

  setScreen(screen: MediaStream | null): void {
    this.#setLocal({ ...this.#local, screen });
  }

  showCamera(
    participant: ParticipantId,
    size: { readonly width: number; readonly height: number } | null,
  ): void {
    this.#ways.show(participant, size);
  }

  setMediaKey(key: string): void {
    this.#ways.setSecret(key);
  }

  measure(): Promise<CallFigures> {
    return this.#ways.measure();
  }

  rename(name: string): void {
    const shown = checkName(name, this.#limits.nameChars);
    if (shown === undefined || shown === this.#name) return;
    this.#name = shown;
    this.#connection.send({ type: 'change', name: shown });
    this.#changed();
  }

  sendChat(text: string): boolean {
    const { me } = this.#roster;
    const trimmed = text.trim();
    const unsent = chat.unacknowledged(this.#chat).length;
    if (trimmed === '' || Array.from(trimmed).length > this.#limits.chatChars) return false;
    if (me === null || this.#state.status === 'ended' || unsent >= chat.UNSENT_LINES) return false;
    const id = [...this.#ports.random.bytes(CHAT_ID_BYTES)]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('');
    const at = this.#ports.clock.wall();
    this.#chat = chat.said(this.#chat, { id, from: me, name: this.#name, text: trimmed, at });
    this.#connection.send({ type: 'chat', id, text: trimmed });
    this.#changed();
    return true;
  }

  leave(): void {
    this.#connection.leave();
  }

  get #media(): Media {
    const { microphone, camera, screen } = this.#local;
    return { audio: microphone !== null, video: camera !== null, screen: screen !== null };
  }

  #setLocal(local: LocalMedia): void {
    const before = this.#media;
    this.#local = local;
    this.#mesh.setMedia(local);
    this.#ways.setMedia(local);
    const media = this.#media;
    if (sameMedia(media, before)) return;
    this.#connection.send({ type: 'change', media });
    this.#changed();
  }

  #stateChanged(state: CallConnection): void {
    this.#state = state;
    if (state.status === 'ended') this.#close();
    this.#changed();
  }

  #welcomed(welcome: Welcome, { fresh }: { readonly fresh: boolean }): void {
    const reloaded = !fresh && this.#roster.me === null;
    this.#roster = welcomed(fresh ? emptyRoster : this.#roster, welcome, this.#ports.clock.now());
    this.#limits = welcome.limits;
    this.#view = welcome.room;
    this.#owner = welcome.owner ?? false;
    this.#lobby = lobbyAfter(this.#lobby, welcome);
    this.#correct(welcome);
    for (const line of welcome.chat) this.#chat = chat.received(this.#chat, line, welcome.participant);
    for (const line of chat.unacknowledged(this.#chat)) this.#connection.send(line);
    this.#takeIce(welcome);
    this.#followRoster();
    if (reloaded) this.#mesh.askAnew();
    else this.#mesh.reachableAgain();
    this.#ways.sayAgain();
  }

  /** What the first message said of us may be old: whoever waited in the lobby may have switched the camera meanwhile. */
  #correct({ roster, participant }: Welcome): void {
    const said = roster.find((member) => member.participant === participant);
    const media = this.#media;
    if (said === undefined) return;
    if (said.name !== this.#name) this.#connection.send({ type: 'change', name: this.#name });
    if (!sameMedia(said.media, media)) this.#connection.send({ type: 'change', media });
  }

  #viewChanged(view: RoomView): void {
    if (this.#state.status === 'ended') return;
    this.#view = view;
    this.#changed();
  }

  #heard(message: ServerMessage): void {
    if (message.type === 'room-changed') {
      this.#view = message.room;
    } else if (message.type === 'in-lobby') {
      // Whoever is at the door is in no roster and sees nobody, also when they were in before.
      this.#view = message.room;
      this.#roster = emptyRoster;
      this.#owner = false;
      this.#followRoster();
    } else if (message.type === 'mute-asked') {
      this.#muteRequests += 1;
    } else if (message.type === 'chat') {
      this.#chat = chat.received(this.#chat, message.line, this.#roster.me);
    } else if (message.type === 'chat-taken') {
      this.#chat = chat.taken(this.#chat, message, this.#roster.me);
    } else if (message.type === 'error' && message.code === 'ICE_TOO_FAST') {
      this.#iceRenewal.refused(message.retryAfterMs ?? 0);
    } else if (message.type === 'error' && message.ref !== undefined) {
      this.#chat = chat.refused(this.#chat, message.ref);
    } else if (message.type === 'ice') {
      this.#takeIce(message);
    } else if (message.type === 'relay') {
      this.#relayAsk.answered(message.relay);
    } else if (message.type === 'undelivered') {
      this.#mesh.undelivered(message);
    }
    this.#lobby = lobbyAfter(this.#lobby, message);
    const roster = heard(this.#roster, message);
    if (roster !== this.#roster) {
      this.#roster = roster;
      this.#followRoster();
    }
    if (message.type !== 'pong') this.#changed();
  }

  #followRoster(): void {
    const { me, members } = this.#roster;
    this.#ways.follow(me, members, this.#limits.meshMax);
    this.#mesh.follow(me, members);
    this.#ways.update();
    for (const participant of this.#people.keys()) {
      if (members.has(participant)) continue;
      this.#people.delete(participant);
      this.#levels.delete(participant);
    }
    this.#cancelExpiry();
    const expiry = nextExpiry(this.#roster);
    if (expiry === null) return;
    this.#cancelExpiry = this.#ports.clock.after(Math.max(0, expiry - this.#ports.clock.now()), () => {
      this.#roster = expired(this.#roster, this.#ports.clock.now());
      this.#followRoster();
      this.#changed();
    });
  }

  /** Connections of now take new servers at their next ICE restart; allocations that they have go on with the credentials of then. */
  #takeIce(offer: IceOffer): void {
    this.#mesh.setIceServers(toRtc(offer.iceServers));
    this.#iceRenewal.told(offer);
  }

  #listen(): void {
    this.#cancelLevels = this.#ports.clock.after(LEVEL_MS, () => this.#listen());
    let changed = false;
    for (const [participant, { media }] of this.#roster.members) {
      const level = media.audio ? this.#ways.shown(participant).level : 0;
      const shown = this.#levels.get(participant) ?? 0;
      if (Math.abs(level - shown) < LEVEL_STEP && (level > 0 || shown === 0)) continue;
      this.#levels.set(participant, level);
      changed = true;
    }
    if (changed) this.#changed();
  }

  /** The same object while nothing about the person changed, so that an application redraws only who did. */
  #person(member: Member): Person {
    const { participant, name, state, media, owner = false } = member;
    const { link: view, ...shown } = this.#ways.shown(participant);
    const { stream, mixed } = shown;
    const screen = media.screen ? shown.screen : null;
    const level = this.#levels.get(participant) ?? 0;
    const before = this.#people.get(participant);
    if (
      before?.name === name &&
      before.presence === state &&
      before.media === media &&
      before.owner === owner &&
      before.stream === stream &&
      before.screen === screen &&
      before.mixed === mixed &&
      before.level === level &&
      JSON.stringify(before.link) === JSON.stringify(view)
    ) {
      return before;
    }
    const person: Person = {
      participant,
      name,
      presence: state,
      media,
      owner,
      link: view,
      stream,
      screen,
      mixed,
      level,
    };
    this.#people.set(participant, person);
    return person;
  }

  /** Listeners hear once of everything that changed in one turn. */
  #changed(): void {
    this.#snapshot = null;
    if (this.#telling) return;
    this.#telling = true;
    queueMicrotask(() => {
      this.#telling = false;
      for (const listener of this.#listeners) listener();
    });
  }

  #close(): void {
    this.#cancelLevels();
    this.#cancelExpiry();
    this.#iceRenewal.close();
    this.#ways.close();
    this.#mesh.close();
  }
}

const sameMedia = (one: Media, other: Media): boolean =>
  one.audio === other.audio && one.video === other.video && one.screen === other.screen;
