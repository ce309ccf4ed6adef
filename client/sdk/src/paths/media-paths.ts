/**
 * Which way media goes with each person, and what of it is shown. Follows the roster, what others say they want, the mesh and the relays, and
 * asks `paths.ts` what to do; the room through the relays is loaded when somebody first goes that way.
 */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Member } from '@parley/protocol/people';
import type { RelayOffer } from '@parley/protocol/http';
import type { CallFigures, CallPath, Link } from '../call.ts';
import { CallMeter } from '../measure/call-meter.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { planOf, wayOfRoom, type Way } from './paths.ts';
import type { PathSignal } from '../mesh/payload.ts';
import type { LocalMedia, Size } from '../media.ts';
import type { Ports, RelayedMedia, RelayedPerson, RelayedRoom } from '../ports.ts';
import { StableStream } from './stable-stream.ts';

export interface WaysOptions {
  readonly ports: Ports;
  readonly mesh: Mesh;
  readonly room: string;
  readonly api: string;
  /** The end-to-end key of the room's link. */
  readonly secret: string | null;
  readonly askRelay: (without?: string) => Promise<RelayOffer | null | undefined>;
  readonly onChange: () => void;
}

export interface Shown {
  readonly link: Link;
  readonly stream: MediaStream | null;
  readonly screen: MediaStream | null;
  readonly mixed: boolean;
  readonly level: number;
}

interface Pair {
  /** What they said last. */
  said: PathSignal | null;
  told: string;
  toldAt: number;
  readonly metAt: number;
  /** Since the relays were to carry it. */
  relayAt: number | null;
  /** They could not be reached directly: from then on the relays carry it. */
  unreachable: boolean;
  subscribed: boolean;
  shown: Way;
  /** Heard in the mix of what comes through the relays. */
  mixed: boolean;
  taken: boolean;
  /** They could go through relays once. */
  wasAble: boolean;
  readonly stream: StableStream;
  readonly screen: StableStream;
}

type Relayed =
  | { readonly at: 'none' }
  | { readonly at: 'loading' }
  | { readonly at: 'here'; readonly room: RelayedRoom }
  /** The part of the application did not load, or found no room for its sound: tried again, and until then the mesh has to do. */
  | { readonly at: 'failed'; readonly againAt: number };

/** People who come or go in one moment move the room once; back it goes later, as whoever reloads is gone for a moment. */
const SETTLE_MS = { relay: 400, mesh: 3000 } as const;
/** Whoever has just come has said nothing yet. */
const UNHEARD_MS = 2000;
/** The relays should carry media by then; otherwise the mesh does meanwhile, where it bears that many. */
const OVERDUE_MS = 6000;
const MESH_BEARS = 8;
/** What was said may be lost: until both agree it is said again. */
const SAY_AGAIN_MS = 2000;
const TICK_MS = 500;
/** The connection to the relay stays a little: others may need it for a moment. */
const LINGER_MS = 4000;
/** What did not load is asked for again after this long. */
const LOAD_AGAIN_MS = 5000;
/** The most cameras that are shown at once; everybody is heard. */
const MOST_SHOWN = 16;
/** Delays of what is played, from which on people notice, and from which on they talk over each other. */
const FAIR_MS = 200;
const POOR_MS = 350;
/** Until the application says how large it shows somebody. */
const USUAL_SIZE = { width: 320, height: 180 };

export class Ways {
  readonly #options: WaysOptions;
  readonly #pairs = new Map<ParticipantId, Pair>();
  readonly #sizes = new Map<ParticipantId, Size | null>();
  #me: ParticipantId | null = null;
  #members: ReadonlyMap<ParticipantId, Member> = new Map();
  #max = Number.POSITIVE_INFINITY;
  #way: Way = 'mesh';
  #local: LocalMedia;
  #secret: string | null;
  #relayed: Relayed = { at: 'none' };
  #neededAt = 0;
  #cancelSettle: (() => void) | null = null;
  #cancelTick: () => void = () => undefined;
  #updating = false;
  /** We were on a relay once. */
  #wasAble = false;
  readonly #meter = new CallMeter();

  constructor(local: LocalMedia, options: WaysOptions) {
    this.#options = options;
    this.#local = local;
    this.#secret = options.secret;
  }

  get path(): CallPath {
    const sealed = this.#secret !== null;
    if (this.#way === 'relay') {
      if (this.#options.ports.relayedMedia === null) return { way: 'mesh', why: 'no-codecs' };
      if (this.#able) return { way: 'relay', why: 'people', sealed };
      return { way: 'mesh', why: this.#relayed.at === 'failed' ? 'not-loaded' : 'no-relay' };
    }
    const unreachable = [...this.#pairs.values()].some((pair) => pair.unreachable);
    return unreachable ? { way: 'relay', why: 'unreachable', sealed } : { way: 'mesh', why: null };
  }

  get mix(): MediaStream | null {
    return this.#relayed.at === 'here' ? this.#relayed.room.mix : null;
  }

  /** Whether a link is made with somebody new at once. */
  opens(participant: ParticipantId): boolean {
    return this.#planFor(participant).link === 'open';
  }

  accepts(participant: ParticipantId): boolean {
    return this.#planFor(participant).link !== 'close';
  }

  follow(me: ParticipantId | null, members: ReadonlyMap<ParticipantId, Member>, max: number): void {
    const first = me !== this.#me;
    if (first) this.close();
    this.#me = me;
    this.#members = members;
    this.#max = max;
    const now = this.#options.ports.clock.now();
    for (const participant of this.#pairs.keys())
      if (!members.has(participant)) this.#pairs.delete(participant);
    for (const participant of this.#sizes.keys())
      if (!members.has(participant)) this.#sizes.delete(participant);
    for (const participant of members.keys())
      if (!this.#pairs.has(participant)) this.#pairs.set(participant, this.#pair(now));
    if (me === null || this.#options.ports.relayedMedia === null) return;
    // Whoever comes into a large room makes no links first.
    if (first) this.#way = wayOfRoom('mesh', members.size + 1, max);
    this.#settle();
  }

  /** After the mesh followed the roster as well. */
  update(): void {
    if (this.#me === null || this.#options.ports.relayedMedia === null || this.#updating) return;
    this.#updating = true;
    this.#wasAble ||= this.#relayed.at === 'here' && this.#relayed.room.state === 'open';
    try {
      for (const [participant, pair] of this.#pairs) this.#apply(participant, pair);
      this.#followRelayed();
      for (const [participant, pair] of this.#pairs) this.#mix(participant, pair);
    } finally {
      this.#updating = false;
    }
    this.#schedule();
  }

  receive(from: ParticipantId, signal: PathSignal): void {
    const pair = this.#pairs.get(from);
    if (pair === undefined) return;
    // Whoever says it for the first time, or anew after a reload, has not heard us either.
    if (pair.said === null || (pair.said.takes && !signal.takes)) forgetTold(pair);
    pair.said = signal;
    pair.wasAble ||= signal.able;
    this.update();
    this.#options.onChange();
  }

  /** Our socket is back, or they are: what was said meanwhile is lost. */
  sayAgain(): void {
    for (const pair of this.#pairs.values()) forgetTold(pair);
    this.update();
  }

  setMedia(local: LocalMedia): void {
    this.#local = local;
    if (this.#relayed.at === 'here') this.#relayed.room.setMedia(local);
  }

  /** From now on; what we publish is another broadcast then. */
  setSecret(secret: string): void {
    if (secret === this.#secret) return;
    this.#secret = secret;
    this.#endRelayed();
    this.update();
    this.#options.onChange();
  }

  show(participant: ParticipantId, size: Size | null): void {
    const before = this.#sizes.get(participant);
    const same = before?.width === size?.width && before?.height === size?.height;
    if (this.#sizes.has(participant) && same) return;
    this.#sizes.set(participant, size);
    this.update();
  }

  shown(participant: ParticipantId): Shown {
    const { mesh } = this.#options;
    const link = mesh.link(participant);
    const pair = this.#pairs.get(participant);
    const view = link?.view ?? { status: 'connecting' };
    const linkLevel = link?.level() ?? 0;
    if (pair === undefined || this.#options.ports.relayedMedia === null)
      return {
        link: view,
        stream: link?.stream ?? null,
        screen: link?.screen ?? null,
        mixed: false,
        level: linkLevel,
      };
    const relayed = this.#person(participant);
    if (pair.shown === 'mesh' || relayed === undefined) {
      if (relayed?.otherKey === true && view.status !== 'connected')
        return { link: { status: 'other-key' }, stream: null, screen: null, mixed: false, level: 0 };
      const stream = pair.stream.of(link?.stream?.getTracks() ?? null);
      const screen = pair.screen.of(link?.screen?.getTracks() ?? null);
      const level = pair.mixed && relayed !== undefined ? relayed.level() : linkLevel;
      return { link: view, stream, screen, mixed: pair.mixed, level };
    }
    const tracks = (
      ...sources: ('microphone' | 'camera' | 'screen' | 'screen-audio')[]
    ): MediaStreamTrack[] => sources.flatMap((source) => relayed.track(source) ?? []);
    return {
      link: relayed.otherKey
        ? { status: 'other-key' }
        : relayedLink(relayed.ready ? relayed.targetMs() : null, pair.taken),
      stream: pair.stream.of(tracks('microphone', 'camera')),
      screen: pair.screen.of(tracks('screen', 'screen-audio')),
      mixed: pair.mixed,
      level: relayed.level(),
    };
  }

  measure(): Promise<CallFigures> {
    const { mesh, ports } = this.#options;
    const ways = [...this.#pairs].map(([participant, { shown }]) => ({
      participant,
      link: mesh.link(participant),
      relayed: shown === 'relay' ? this.#person(participant) : undefined,
    }));
    return this.#meter.measure(ways, this.#relayed.at === 'here' ? this.#relayed.room : null, ports.clock);
  }

  close(): void {
    this.#cancelTick();
    this.#cancelSettle?.();
    this.#cancelSettle = null;
    this.#endRelayed();
    this.#pairs.clear();
    this.#way = 'mesh';
    this.#wasAble = false;
  }

  get #able(): boolean {
    if (this.#options.ports.relayedMedia === null || this.#relayed.at === 'failed') return false;
    return this.#relayed.at !== 'here' || this.#relayed.room.state !== 'none';
  }

  #pair(now: number): Pair {
    const { createStream } = this.#options.ports;
    return {
      said: null,
      told: '',
      toldAt: now,
      metAt: now,
      relayAt: null,
      unreachable: false,
      subscribed: false,
      shown: this.#way,
      mixed: false,
      taken: false,
      wasAble: false,
      stream: new StableStream(createStream),
      screen: new StableStream(createStream),
    };
  }

  #person(participant: ParticipantId): RelayedPerson | undefined {
    return this.#relayed.at === 'here' ? this.#relayed.room.person(participant) : undefined;
  }

  #planFor(participant: ParticipantId): ReturnType<typeof planOf> {
    const pair = this.#pairs.get(participant);
    const none = pair === undefined || this.#options.ports.relayedMedia === null;
    return none ? { link: 'open', subscribe: false, shown: 'mesh' } : this.#plan(participant, pair);
  }

  #plan(participant: ParticipantId, pair: Pair): ReturnType<typeof planOf> {
    const { ports, mesh } = this.#options;
    const now = ports.clock.now();
    const link = mesh.link(participant);
    // No link is made where the room is about to move because of whoever came.
    const moves = this.#way === 'mesh' && wayOfRoom('mesh', this.#members.size + 1, this.#max) === 'relay';
    if (moves && this.#able && link === undefined) return { link: 'keep', subscribe: false, shown: 'mesh' };
    const heard = pair.said !== null || now - pair.metAt > UNHEARD_MS;
    const many = this.#members.size >= MESH_BEARS;
    const plan = planOf({
      mine: pair.unreachable ? 'relay' : this.#way,
      theirs: pair.said?.want ?? 'mesh',
      able: this.#able && (heard ? (pair.said?.able ?? false) : true),
      takes: this.#takes(participant, pair),
      taken: pair.said?.takes ?? false,
      flows: link?.view.status === 'connected' && flows(link.stream, this.#members.get(participant)),
      overdue: pair.relayAt !== null && now - pair.relayAt > OVERDUE_MS && !many,
    });
    // A relay that is back in a moment is better than links with everybody, under which the whole call would break down.
    const lapsed = this.#able ? pair.wasAble && pair.said?.able === false : this.#wasAble;
    return many && lapsed && this.#way === 'relay' && plan.link === 'open' ? { ...plan, link: 'keep' } : plan;
  }

  #takes(participant: ParticipantId, pair: Pair): boolean {
    return pair.subscribed && (this.#person(participant)?.ready ?? false);
  }

  #apply(participant: ParticipantId, pair: Pair): void {
    const { mesh, ports } = this.#options;
    if (mesh.link(participant)?.view.status === 'failed') pair.unreachable = true;
    const plan = this.#plan(participant, pair);
    const now = ports.clock.now();
    if (!plan.subscribe) pair.relayAt = null;
    else if (!this.#takes(participant, pair)) pair.relayAt ??= now;
    else pair.relayAt = null;
    pair.subscribed = plan.subscribe;
    pair.shown = plan.shown;
    if (plan.link === 'close') mesh.closeLink(participant);
    else if (plan.link === 'open' && mesh.isPresent(participant)) mesh.openLink(participant);
    const takes = this.#takes(participant, pair);
    pair.taken ||= takes;
    this.#tell(participant, pair, takes);
  }

  /** As with what is seen of them: while nothing else is there what the relays bring is heard, also before all of it is there. */
  #mix(participant: ParticipantId, pair: Pair): void {
    const linked = (this.#options.mesh.link(participant)?.stream ?? null) !== null;
    const mixed = pair.shown === 'relay' || ((pair.mixed || pair.subscribed) && !linked);
    this.#person(participant)?.mix(mixed);
    if (mixed === pair.mixed) return;
    pair.mixed = mixed;
    // Time alone may have moved them, which nobody else tells.
    this.#options.onChange();
  }

  /** Until somebody goes through the relays nothing is said, and nothing is different for clients that know only the mesh. */
  #tell(to: ParticipantId, pair: Pair, takes: boolean): void {
    const want = pair.unreachable ? 'relay' : this.#way;
    const signal: PathSignal = { type: 'path', want, able: this.#able, takes };
    const text = JSON.stringify(signal);
    const now = this.#options.ports.clock.now();
    const silent = want === 'mesh' && !takes && pair.told === '' && pair.said?.want !== 'relay';
    const settled = want === 'mesh' ? pair.said?.want !== 'relay' : takes && pair.said?.takes === true;
    if (!this.#options.mesh.isPresent(to)) forgetTold(pair);
    if (silent || !this.#options.mesh.isPresent(to)) return;
    if (text === pair.told && (settled || now - pair.toldAt < SAY_AGAIN_MS)) return;
    pair.told = text;
    pair.toldAt = now;
    this.#options.mesh.tellPath(to, signal);
  }

  #settle(): void {
    const wanted = wayOfRoom(this.#way, this.#members.size + 1, this.#max);
    if (wanted === this.#way) {
      this.#cancelSettle?.();
      this.#cancelSettle = null;
      return;
    }
    this.#cancelSettle ??= this.#options.ports.clock.after(SETTLE_MS[wanted], () => {
      this.#cancelSettle = null;
      this.#way = wayOfRoom(this.#way, this.#members.size + 1, this.#max);
      if (this.#relayed.at === 'failed') this.#relayed = { at: 'none' };
      this.update();
      this.#options.onChange();
    });
  }

  #followRelayed(): void {
    const now = this.#options.ports.clock.now();
    const pairs = [...this.#pairs];
    const needed =
      this.#way === 'relay' || pairs.some(([, pair]) => pair.subscribed || pair.said?.takes === true);
    if (needed) this.#neededAt = now;
    const relayed = this.#relayed;
    if (needed && relayed.at === 'none') void this.#load({ at: 'loading' });
    // Whoever tries again has still failed, for everybody else, until it succeeds.
    const missed = needed || pairs.some(([, pair]) => pair.unreachable);
    if (missed && relayed.at === 'failed' && now >= relayed.againAt)
      void this.#load({ at: 'failed', againAt: Number.POSITIVE_INFINITY });
    if (this.#relayed.at !== 'here') return;
    if (!needed && now - this.#neededAt > LINGER_MS) {
      this.#endRelayed();
      return;
    }
    let left = MOST_SHOWN;
    const wanted = new Map<ParticipantId, Size | null>();
    for (const [participant, pair] of pairs) {
      if (!pair.subscribed) continue;
      const size = this.#sizes.has(participant) ? (this.#sizes.get(participant) ?? null) : USUAL_SIZE;
      if (size !== null) left -= 1;
      wanted.set(participant, left >= 0 ? size : null);
    }
    this.#relayed.room.follow(wanted);
  }

  async #load(meanwhile: Relayed): Promise<void> {
    const { ports, onChange } = this.#options;
    const me = this.#me;
    this.#relayed = meanwhile;
    const loaded = await ports.relayedMedia?.().catch(() => null);
    if (this.#relayed !== meanwhile || me === null || me !== this.#me) return;
    const failed: Relayed = { at: 'failed', againAt: ports.clock.now() + LOAD_AGAIN_MS };
    try {
      this.#relayed = loaded ? { at: 'here', room: this.#enter(loaded, me) } : failed;
    } catch {
      // A browser that makes no more sound, as it has too many contexts.
      this.#relayed = failed;
    }
    this.update();
    onChange();
  }

  #enter(media: RelayedMedia, me: ParticipantId): RelayedRoom {
    const { room, api, askRelay, onChange } = this.#options;
    const onChanged = (): void => {
      this.update();
      onChange();
    };
    const secret = this.#secret;
    return media.enter(this.#local, { room, me, api, secret, ask: askRelay, onChange: onChanged });
  }

  #endRelayed(): void {
    if (this.#relayed.at === 'here') this.#relayed.room.close();
    this.#relayed = { at: 'none' };
  }

  /** Time alone changes what is to be done only while something is on its way. */
  #schedule(): void {
    this.#cancelTick();
    const moving = [...this.#pairs.values()].some((pair) => pair.said === null || pair.relayAt !== null);
    if (this.#relayed.at === 'none' && this.#way === 'mesh') return;
    this.#cancelTick = this.#options.ports.clock.after(moving ? TICK_MS : 2 * TICK_MS, () => this.update());
  }
}

/** They may not know it any more; whoever was told nothing needs to be told nothing. */
function forgetTold(pair: Pair): void {
  if (pair.told !== '') pair.told = 'forgotten';
}

/** Whether what they say they send comes over the link. */
function flows(stream: MediaStream | null, member: Member | undefined): boolean {
  if (stream === null) return false;
  const { audio, video } = member?.media ?? { audio: false, video: false };
  const comes = (track: MediaStreamTrack): boolean => !track.muted;
  return (!video || stream.getVideoTracks().some(comes)) && (!audio || stream.getAudioTracks().some(comes));
}

/** Late packets are all that is known of the way through relays: they make the delay grow. `null`: nothing is there. */
function relayedLink(delayMs: number | null, before: boolean): Link {
  if (delayMs === null) return { status: before ? 'recovering' : 'connecting' };
  const quality = delayMs < FAIR_MS ? 'good' : delayMs < POOR_MS ? 'fair' : 'poor';
  return { status: 'connected', path: 'relay', quality, roundTripMs: null, lossPercent: null };
}
