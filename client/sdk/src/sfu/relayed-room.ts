/**
 * A room through relays: one connection, our broadcast on it, and those of the participants that are shown. Loaded when a room first needs it. A
 * broadcast is `rooms/{room}/{participant}/{instance}` (MEDIA-4); the instance identifies one page of that participant and grows, so that
 * broadcasts that a page left on a relay are not confused with those of its reload.
 */
import { Path, type Announce, type Broadcast, type Connection as Net } from '@moq/net';
import type { ParticipantId } from '@parley/protocol/ids';
import type {
  Clock,
  KeySignal,
  Random,
  RelayCounts,
  RelayedRoom,
  RelayedRoomOptions,
  SecurityCode,
} from '../ports.ts';
import type { LocalMedia, Size } from '../media.ts';
import { LivenessQuestion, STALLED_MS } from './liveness.ts';
import { chooseCodec } from './codecs.ts';
import type { MediaPorts, Voices } from './media-ports.ts';
import { Publisher } from './publisher.ts';
import { OVERLAP_MS, RelayLink, type AssignmentAnswer, type LossReason } from './relay-link.ts';
import { KeyExchange } from './e2ee/key-exchange.ts';
import { reduceVideo, isOwnOverload, VideoReduction } from './video-reduction.ts';
import { Subscriber } from './subscriber.ts';
import { connect } from './relay-connect.ts';
import { openRelay, type Connection, type Transport } from './transports.ts';

/** What the room needs from its environment, besides the options of its consumer. */
export interface RoomPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly media: MediaPorts;
}

type Session = Net.Established & Connection;
type Stats = Awaited<ReturnType<Net.Established['stats']>>;

const LATER: LossReason = { again: 'later' };
/** A refusal arrives one round trip after the connection opened. */
const STAYS_OPEN_MS = 150;
/** Other participants wait for our media: after GOAWAY the client moves at once. */
const SPREAD_MS = 0;
/** Silence of this length may mean that the relay is dead, which QUIC notices after ten seconds and WebSocket after minutes. */
const DOUBT_MS = 1000;
const LOOK_MS = 250;
const SOON_MS = 50;
const AGAIN_MS = 500;
/** Doubled after each false alarm: on an overloaded device everything is late, and another relay is no better. */
const ANSWER_MS = 600;
/** Without an answer for this time, signaling is asked for another relay meanwhile. */
const ASK_AFTER_MS = 200;
/** Below the ten seconds after which the library gives up, which would not be an answer. */
const MAX_ANSWER_MS = 8000;
/** After this time on one relay the timeout is short again. */
const PATIENT_FOR_MS = 60_000;

export class MoqRoom implements RelayedRoom {
  readonly #options: RelayedRoomOptions & RoomPorts;
  readonly #link: RelayLink<Session, LossReason>;
  readonly #people = new Map<ParticipantId, Subscriber>();
  /** The instances of each participant that are announced on the current connection. */
  readonly #announced = new Map<ParticipantId, Set<string>>();
  #wanted: ReadonlyMap<ParticipantId, Size | null> = new Map();
  readonly #reduction = new VideoReduction();
  readonly #voices: Voices;
  readonly #prefix: Path.Valid;
  readonly #instance: string;
  #publisher: Publisher | null = null;
  #keys: KeyExchange | null = null;
  #members: ReadonlySet<ParticipantId> = new Set();
  #local: LocalMedia;
  #session: Session | null = null;
  #announcements: Announce.Consumer | null = null;
  #state: RelayedRoom['state'] = 'connecting';
  #transport: Transport | null = null;
  #receivedAt = 0;
  #lookedAt = 0;
  #stalled = false;
  #doubting = false;
  /** Another relay is being opened, as this question to ours is not answered. */
  #unanswered: LivenessQuestion | null = null;
  #answerMs = ANSWER_MS;
  #leftAt = 0;
  #closed = false;
  #cancelLook: () => void;

  constructor(local: LocalMedia, options: RelayedRoomOptions & RoomPorts) {
    this.#options = options;
    this.#local = local;
    this.#voices = options.media.createVoices();
    this.#prefix = Path.from('rooms', options.room);
    this.#instance = options.clock.wall().toString(36).padStart(10, '0');
    this.#link = new RelayLink<Session, LossReason>({
      clock: options.clock,
      random: options.random,
      ask: (exclude, isLost) => this.#ask(exclude, isLost),
      open: ({ relay }, last) => openRelay(connect, relay, relay.api ?? options.api(), last),
      spreadMs: SPREAD_MS,
      serves: (connection) => staysOpen(connection, options.clock),
      lost: LATER,
      silent: LATER,
      onLink: (link) => {
        // Without a relay the state stays `none` until one is open: further attempts are no change.
        if (link.at === 'open' || this.#state !== 'none')
          this.#state = link.at === 'stopped' ? 'none' : link.at;
        this.#transport = link.at === 'open' ? link.transport : null;
        options.onChange();
      },
      onConnection: (connection) => this.#use(connection?.on ?? null),
    });
    this.#cancelLook = options.clock.after(LOOK_MS, () => this.#look());
    void this.#begin();
  }

  /** `none`: the region has no relay for this room. */
  get state(): RelayedRoom['state'] {
    return this.#state;
  }

  get transport(): Transport | null {
    return this.#transport;
  }

  /** The audio of all participants in the mix (`Subscriber.mix`). */
  get mix(): MediaStream {
    return this.#voices.mix;
  }

  person(participant: ParticipantId): Subscriber | undefined {
    return this.#people.get(participant);
  }

  /** The quality of the connection, and what is sent on it. */
  async measure(): Promise<RelayCounts | null> {
    const [session, transport] = [this.#session, this.#transport];
    if (session === null || transport === null) return null;
    const { rtt, packetsSent = 0, packetsLost = 0 } = await session.stats().catch((): Stats => ({}));
    return {
      transport,
      roundTripMs: rtt ?? session.probe.peek()?.rtt ?? null,
      packets: packetsSent,
      lost: packetsLost,
      sent: this.#publisher?.counts() ?? [],
    };
  }

  setMedia(local: LocalMedia): void {
    this.#local = local;
    this.#publisher?.set(local);
  }

  /** The participants to subscribe to and the size of their cameras, and all who are in the room. */
  follow(wanted: ReadonlyMap<ParticipantId, Size | null>, members: ReadonlySet<ParticipantId>): void {
    this.#wanted = wanted;
    this.#members = members;
    this.#keys?.follow(members, wanted.keys());
    const people = reduceVideo(wanted, this.#reduction.level);
    for (const [participant, subscriber] of this.#people) {
      if (people.has(participant)) continue;
      subscriber.close();
      this.#people.delete(participant);
    }
    for (const [participant, size] of people) {
      const known = this.#people.get(participant);
      const paused = size === null && wanted.get(participant) !== null;
      if (known !== undefined) {
        known.show(size, paused);
        continue;
      }
      const { media, clock, onChange } = this.#options;
      const subscriber = new Subscriber({
        participant,
        keys: () => this.#keys,
        media,
        voices: this.#voices,
        clock,
        onChange,
        onReceived: () => {
          this.#receivedAt = clock.now();
          this.#stay();
        },
      });
      this.#people.set(participant, subscriber);
      subscriber.show(size, paused);
      this.#attach(participant);
    }
  }

  receiveKey(from: ParticipantId, signal: KeySignal): void {
    void this.#keys?.receive(from, signal);
  }

  securityCode(): Promise<SecurityCode | null> | undefined {
    return this.#keys?.code();
  }

  close(): void {
    this.#closed = true;
    this.#keys?.close();
    this.#cancelLook();
    this.#link.close();
    this.#publisher?.close();
    for (const subscriber of this.#people.values()) subscriber.close();
    this.#people.clear();
    this.#voices.close();
  }

  async #begin(): Promise<void> {
    const { media, clock } = this.#options;
    const keys = await this.#exchange();
    const codec = await chooseCodec(media.VideoEncoder);
    if (this.#closed) return;
    this.#keys = keys;
    keys?.follow(this.#members, this.#wanted.keys());
    this.#publisher = new Publisher({ media, clock, codec, keys });
    this.#publisher.set(this.#local);
    this.#link.connect();
  }

  async #exchange(): Promise<KeyExchange | null> {
    const { media, secret, sendKey: send, ...rest } = this.#options;
    if (secret === null) return null;
    return KeyExchange.of({
      ...rest,
      subtle: media.subtle,
      secret,
      instance: this.#instance,
      send,
      isPublishing: () => Object.values(this.#local).some((track) => track !== null),
    });
  }

  async #ask(exclude: string | undefined, isLost: boolean): Promise<AssignmentAnswer<LossReason>> {
    const relay = await this.#options.ask(exclude, isLost);
    if (relay) {
      const broadcast = `${this.#prefix}/${this.#options.me}/${this.#instance}`;
      return { assignment: { broadcast, relay } };
    }
    // The session that will be replaced still works.
    if (relay === null && this.#session === null) this.#state = 'none';
    return { refused: LATER, afterMs: null };
  }

  #use(session: Session | null): void {
    this.#announcements?.close();
    this.#announcements = null;
    this.#announced.clear();
    this.#session = session;
    this.#unanswered?.close();
    this.#unanswered = null;
    this.#receivedAt = this.#options.clock.now();
    if (session === null) {
      for (const subscriber of this.#people.values()) subscriber.use(null, '');
      return;
    }
    const broadcast = this.#publisher?.broadcast();
    if (broadcast)
      session.publish(Path.join(this.#prefix, Path.from(this.#options.me, this.#instance)), broadcast);
    this.#followAnnouncements(session);
    // A participant that is not announced by then was on the previous connection, which has ended.
    this.#options.clock.after(OVERLAP_MS, () => {
      if (session !== this.#session || this.#closed) return;
      for (const participant of this.#people.keys())
        if (!this.#announced.has(participant)) this.#attach(participant);
    });
  }

  /** Announcements end with the connection; if they end earlier, all broadcasts are announced again. */
  #followAnnouncements(session: Session): void {
    const announcements = session.announced(this.#prefix);
    this.#announcements = announcements;
    const again = (): void => {
      if (session !== this.#session || this.#closed) return;
      this.#options.clock.after(AGAIN_MS, () => {
        if (session === this.#session && !this.#closed) this.#followAnnouncements(session);
      });
    };
    this.#listen(announcements).then(again, again);
  }

  async #listen(announcements: Announce.Consumer): Promise<void> {
    for (;;) {
      const event = await announcements.next();
      if (event === undefined || announcements !== this.#announcements) return;
      const [participant, instance, ...rest] = Path.parts(event.path);
      if (participant === undefined || instance === undefined || rest.length > 0) continue;
      if (participant === this.#options.me) continue;
      const pages = this.#announced.get(participant) ?? new Set();
      if (event.active) pages.add(instance);
      else pages.delete(instance);
      if (pages.size > 0) this.#announced.set(participant, pages);
      else this.#announced.delete(participant);
      this.#attach(participant);
    }
  }

  #attach(participant: ParticipantId): void {
    const subscriber = this.#people.get(participant);
    const instance = [...(this.#announced.get(participant) ?? [])].toSorted().at(-1);
    if (subscriber === undefined || this.#session === null) return;
    const path = instance === undefined ? null : Path.join(this.#prefix, Path.from(participant, instance));
    const broadcast: Broadcast.Consumer | null = path && this.#session.consume(path);
    subscriber.use(broadcast, instance ?? '');
  }

  #look(): void {
    const now = this.#options.clock.now();
    // Data that arrived while the page was blocked is not processed yet.
    const stalled = now - this.#lookedAt > LOOK_MS + STALLED_MS;
    // In a hidden page timers are always late.
    if (stalled && !this.#stalled) this.#receivedAt = now;
    this.#adaptVideo(now, stalled);
    this.#stalled = stalled;
    this.#lookedAt = now;
    const doubtIn = Math.max(SOON_MS, this.#receivedAt + DOUBT_MS + 1 - now);
    this.#cancelLook = this.#options.clock.after(Math.min(LOOK_MS, doubtIn), () => this.#look());
    if (this.#session !== null && now - this.#receivedAt > DOUBT_MS) void this.#doubt(this.#session);
  }

  #adaptVideo(now: number, isBlocked: boolean): void {
    const troubled = [...this.#people.values()].map((subscriber) => subscriber.troubled(isBlocked));
    if (this.#reduction.look(isOwnOverload(troubled), now)) this.follow(this.#wanted, this.#members);
  }

  /** A pause may have other causes: asks the relay. */
  async #doubt(session: Session): Promise<void> {
    if (this.#doubting || this.#unanswered !== null) return;
    this.#doubting = true;
    const { clock } = this.#options;
    if (clock.now() - this.#leftAt > PATIENT_FOR_MS) this.#answerMs = ANSWER_MS;
    let other: Promise<AssignmentAnswer<LossReason>> | undefined;
    const cancel = clock.after(ASK_AFTER_MS, () => {
      other = this.#link.askOther();
    });
    const question = new LivenessQuestion(session, this.#prefix, clock);
    const isAlive = await question.isAnswered(this.#answerMs);
    this.#doubting = false;
    cancel();
    if (!isAlive && session === this.#session) this.#leave(question, other);
    else {
      question.close();
      this.#receivedAt = clock.now();
    }
  }

  #leave(question: LivenessQuestion, other: Promise<AssignmentAnswer<LossReason>> | undefined): void {
    const { clock } = this.#options;
    this.#answerMs = Math.min(MAX_ANSWER_MS, 2 * this.#answerMs);
    this.#leftAt = clock.now();
    this.#unanswered = question;
    this.#link.leave(other);
    for (const subscriber of this.#people.values()) subscriber.suspend();
    // A session that has ended ends the question too, and `#use` follows within this time.
    const answered = (): void => {
      if (question === this.#unanswered) this.#stay();
    };
    void question.answered.then(() => clock.after(SOON_MS, answered));
  }

  /** The relay was not silent for good. */
  #stay(): void {
    if (this.#unanswered === null) return;
    this.#unanswered.close();
    this.#unanswered = null;
    this.#receivedAt = this.#options.clock.now();
    this.#link.stay();
    for (const subscriber of this.#people.values()) subscriber.resume();
  }
}

async function staysOpen({ closed }: Session, clock: Clock): Promise<boolean> {
  const held = Promise.withResolvers<boolean>();
  const cancel = clock.after(STAYS_OPEN_MS, () => held.resolve(true));
  const over = (): boolean => false;
  const holding = await Promise.race([closed.then(over, over), held.promise]);
  cancel();
  return holding;
}
