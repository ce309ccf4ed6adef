/**
 * What one does who controls a media relay: reads every frame of a room, and serves what it likes under any name. A client of the stack's own relays
 * does it here, with a token that allows all of that, signed with the installation's key; a relay needs no token.
 */
import { Broadcast, Connection, Group, Path } from '@moq/net';
import Session from '@moq/qmux';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { requestRelay } from '@parley/e2e/support/live-relays.ts';
import { until } from '@parley/e2e/support/until.ts';
import type { Stack } from '@parley/local/stack';
import { participantId } from '@parley/protocol/ids';
import { roomBroadcasts } from '@parley/protocol/media';
import { MEDIA_AUDIENCE, ISSUER } from '@parley/protocol/tokens';
import { inSeconds, ownKey, signed } from './tokens.ts';

const CATALOG = 'catalog.json';
const SUBPROTOCOLS = ['qmux-02.moq-lite-05', 'qmux-02.moq-lite-04'];
const WITHIN_MS = 20_000;
const SESSION_S = 600;

type Frame = Group.Frame;

/** A frame as it came: in which place of its track, and how long after the first one. */
export interface Recorded {
  readonly group: number;
  readonly index: number;
  readonly afterMs: number;
  readonly frame: Frame;
}

/** What a participant publishes, as a relay sees it. */
export interface Recording {
  /** The text of the catalog. */
  readonly catalog: string;
  readonly tracks: ReadonlyMap<string, readonly Recorded[]>;
}

export interface Forgery {
  /** How many frames were sent to relays that asked for them. */
  sent(): number;
  end(): void;
}

export class HostileRelay {
  readonly #session: Connection.Established;
  readonly #room: string;
  /** The pages that each participant publishes from now. */
  readonly #pages = new Map<string, Set<string>>();

  private constructor(session: Connection.Established, room: string) {
    this.#session = session;
    this.#room = room;
    // It ends with the session.
    this.#listen().catch(() => undefined);
  }

  /** `dir`: of the stack, with the key that signs its tokens. */
  static async of(stack: Stack, dir: string, room: string): Promise<HostileRelay> {
    const { relay } = await requestRelay(stack, 'any');
    const claims = {
      iss: ISSUER,
      aud: MEDIA_AUDIENCE,
      sub: participantId(randomBytes(16)),
      publish: [roomBroadcasts(room)],
      subscribe: [roomBroadcasts(room)],
      iat: inSeconds(0),
      exp: inSeconds(SESSION_S),
    };
    const url = new URL('/media', stack.endpoints.web.replace(/^http/, 'ws'));
    url.searchParams.set('at', new URL(relay.url).host);
    url.searchParams.set('jwt', signed(ownKey({ dir }), { claims }));
    // The library's type asks for sockets that send from shared memory too, which it does not use.
    const socket = new WebSocket(url, SUBPROTOCOLS) as unknown as ConstructorParameters<typeof Session>[0];
    const transport = new Session(socket);
    await transport.ready;
    return new HostileRelay(await Connection.connect(url, { transport }), room);
  }

  /** All that a participant publishes in so much time. */
  async record(participant: string, forMs: number): Promise<Recording> {
    const broadcast = this.#session.consume(this.#path(participant, await this.pageOf(participant)));
    const catalog = await this.#catalog(broadcast);
    const { video, audio } = JSON.parse(catalog) as Record<'video' | 'audio', { renditions: object }>;
    const names = [video, audio].flatMap(({ renditions }) => Object.keys(renditions));
    const tracks = await Promise.all(
      names.map(async (name) => [name, await recordTrack(broadcast, name, forMs)] as const),
    );
    return { catalog, tracks: new Map(tracks) };
  }

  /** Resolves when the participant publishes, and answers which page does: the newest. */
  async pageOf(participant: string): Promise<string> {
    const newest = (): string | undefined => [...(this.#pages.get(participant) ?? [])].toSorted().at(-1);
    await until(() => newest() !== undefined, {
      withinMs: WITHIN_MS,
      what: () => `a broadcast of ${participant}`,
    });
    return newest() ?? '';
  }

  /** Resolves when no page of the participant publishes. */
  publishesNothing(participant: string): Promise<void> {
    return until(() => (this.#pages.get(participant)?.size ?? 0) === 0, {
      withinMs: WITHIN_MS,
      what: () => `the end of what ${participant} publishes`,
    });
  }

  /** Serves a recording as that page of the participant, from each track's first subscription on, at the pace at which it was recorded. */
  serve(participant: string, page: string, { catalog, tracks }: Recording): Forgery {
    const broadcast = new Broadcast.Producer();
    let sent = 0;
    for (const [name, frames] of tracks) {
      const track = broadcast.createTrack(name);
      const play = async (): Promise<void> => {
        const begunAt = performance.now();
        let group: Group.Producer | undefined;
        for (const { group: sequence, afterMs, frame } of frames) {
          const earlyMs = begunAt + afterMs - performance.now();
          if (earlyMs > 0) await pause(earlyMs);
          if (track.closed.peek() !== undefined) return;
          if (group?.sequence !== sequence) {
            group?.close();
            group = new Group.Producer(sequence);
            track.writeGroup(group);
          }
          group.writeFrame(frame);
          sent += 1;
        }
        group?.close();
      };
      let isPlayed = false;
      track.used.subscribe(() => {
        if (!track.used.peek() || isPlayed) return;
        isPlayed = true;
        play().catch(() => undefined);
      });
    }
    serveCatalogs(broadcast, catalog).catch(() => undefined);
    this.#session.publish(this.#path(participant, page), broadcast);
    return { sent: () => sent, end: () => broadcast.close() };
  }

  close(): void {
    this.#session.close();
  }

  async #listen(): Promise<void> {
    const announcements = this.#session.announced(Path.from('rooms', this.#room));
    for (let event = await announcements.next(); event !== undefined; event = await announcements.next()) {
      const [participant = '', page = ''] = Path.parts(event.path);
      const pages = this.#pages.get(participant) ?? new Set();
      this.#pages.set(participant, pages);
      if (event.active) pages.add(page);
      else pages.delete(page);
    }
  }

  async #catalog(broadcast: Broadcast.Consumer): Promise<string> {
    const subscriber = broadcast.track(CATALOG).subscribe();
    const group = await subscriber.recvGroup();
    const text = await group?.readString();
    subscriber.close();
    if (text === undefined) throw new Error('no catalog');
    return text;
  }

  #path(participant: string, page: string): Path.Valid {
    return Path.from('rooms', this.#room, participant, page);
  }
}

async function recordTrack(broadcast: Broadcast.Consumer, name: string, forMs: number): Promise<Recorded[]> {
  const subscriber = broadcast.track(name).subscribe({ latencyMax: 1000 });
  const found: Recorded[] = [];
  let since: number | null = null;
  const read = async (group: Group.Consumer): Promise<void> => {
    for (;;) {
      const frame = await group.readFrameSequence();
      if (frame === undefined) return;
      since ??= performance.now();
      found.push({ group: group.sequence, index: frame.sequence, afterMs: performance.now() - since, frame });
    }
  };
  const readAll = async (): Promise<void> => {
    for (let group = await subscriber.recvGroup(); group; group = await subscriber.recvGroup())
      void read(group).catch(() => undefined);
  };
  const ended = readAll().catch(() => undefined);
  await pause(forMs);
  subscriber.close();
  await ended;
  return found.toSorted((one, other) => one.group - other.group || one.index - other.index);
}

async function serveCatalogs(broadcast: Broadcast.Producer, catalog: string): Promise<void> {
  for (let request = await broadcast.requested(); request; request = await broadcast.requested()) {
    if (request.name !== CATALOG) {
      request.reject();
      continue;
    }
    const track = request.accept();
    const group = new Group.Producer(0);
    group.writeString(catalog);
    group.close();
    track.writeGroup(group);
  }
}
