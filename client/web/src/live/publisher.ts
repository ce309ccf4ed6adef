/** Publishes one broadcast with `@moq/publish`. Loaded only for publishing. */
import { Broadcast, Net, Signals } from '@moq/publish';
import Session from '@moq/qmux';
import type { Publisher, PublishStats, PublishedMedia } from './ports.ts';
import type { ConnectOptions } from '@parley/sdk/sfu/transports';

type Connection = Awaited<ReturnType<typeof Net.Connection.connect>>;

/** The library has no way to cancel: its session over WebSocket is created here. */
export async function connect(url: URL, { signal, ...options }: ConnectOptions): Promise<Connection> {
  const socket = options.websocket?.url;
  if (socket === undefined) return Net.Connection.connect(url, options);
  const session = new Session(socket);
  const giveUp = (): void => session.close();
  signal.addEventListener('abort', giveUp);
  try {
    await session.ready;
    return await Net.Connection.connect(url, { transport: session });
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

const { Signal } = Signals;
type VideoTrack = NonNullable<ReturnType<Broadcast['video']['source']['peek']>>;
type AudioTrack = NonNullable<ReturnType<Broadcast['audio']['source']['peek']>>;

/** Full HD: text on a screen stays readable, and a device without a hardware encoder keeps up. */
const MAX_PIXELS = 1920 * 1080;

const NOTHING = 'nothing';
const CATALOG = 'catalog.json';
/** A relay learns so soon that a publisher has left. */
const ENDS_WITHIN_MS = 500;
const no = (): boolean => false;

/** While one connection replaces another both carry the broadcast, until the old one ends and the viewers have moved. */
export class MoqPublisher implements Publisher<Connection> {
  #media: PublishedMedia = { picture: null, sound: null, muted: true };
  #newest: Broadcast | null = null;
  #connection: { readonly on: Connection; readonly broadcast: string } | null = null;
  readonly #all = new Set<Broadcast>();

  setConnection(connection: { readonly on: Connection; readonly broadcast: string } | null): void {
    this.#connection = connection;
    if (connection === null) return;
    const broadcast = new Broadcast({
      connection: new Signal<Connection | undefined>(inOrder(connection.on)),
      enabled: true,
      name: Net.Path.from(connection.broadcast),
      video: { hd: { config: { maxPixels: MAX_PIXELS } } },
    });
    this.#newest = broadcast;
    this.#all.add(broadcast);
    setSources(broadcast, this.#media);
    const over = (): void => {
      broadcast.close();
      this.#all.delete(broadcast);
    };
    connection.on.closed.then(over, over);
  }

  setMedia(media: PublishedMedia): void {
    this.#media = media;
    for (const broadcast of this.#all) setSources(broadcast, media);
  }

  /** A relay sends the catalog of a broadcast that exists, and refuses a subscription to any other. One that ends may still have a catalog. */
  async isTaken(
    { on, broadcast }: { readonly on: Connection; readonly broadcast: string },
    withinMs: number,
  ): Promise<boolean> {
    const other = on.consume(Net.Path.from(broadcast));
    const catalog = other.subscribe(CATALOG, 0);
    const over = catalog.closed.then(no, no);
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    try {
      const found = catalog
        .nextGroup()
        .then((group) => group !== undefined)
        .catch(() => false);
      if (!(await Promise.race([found, pause(withinMs).then(no)]))) return false;
      return await Promise.race([over, pause(ENDS_WITHIN_MS).then(() => true)]);
    } finally {
      other.close();
    }
  }

  /** A live relay answers at once that a broadcast with a forbidden name does not exist. */
  async isAlive(withinMs: number): Promise<boolean> {
    if (this.#connection === null) return true;
    const { on, broadcast } = this.#connection;
    const nothing = on.consume(Net.Path.from(broadcast, NOTHING));
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), withinMs);
    const answer = (): boolean => true;
    try {
      return await Promise.race([nothing.subscribe(NOTHING, 0).closed.then(answer, answer), late.promise]);
    } finally {
      clearTimeout(timer);
      nothing.close();
    }
  }

  stats(): PublishStats {
    const picture = this.#newest?.video.hd.resolved.peek();
    const sound = this.#newest?.audio.config.peek();
    return {
      width: picture?.width ?? 0,
      height: picture?.height ?? 0,
      bits: (picture?.bitrate ?? 0) + (sound?.bitrate ?? 0),
      codecs: [picture?.codec, sound?.codec].filter((codec) => codec !== undefined),
      hasViewers: this.#newest?.video.hd.active.peek() === true || this.#newest?.audio.active.peek() === true,
    };
  }

  close(): void {
    for (const broadcast of this.#all) broadcast.close();
    this.#all.clear();
  }
}

function setSources({ video, audio }: Broadcast, { picture, sound, muted }: PublishedMedia): void {
  // The types of the library require values that the settings of every browser have.
  video.source.set((picture ?? undefined) as VideoTrack | undefined);
  audio.source.set((sound ?? undefined) as AudioTrack | undefined);
  video.hd.enabled.set(picture !== null);
  audio.enabled.set(sound !== null);
  audio.muted.set(muted);
}

/**
 * The library counts the groups of a track from zero for each subscription of a relay. A relay that had more of them would treat these as old, and
 * no viewer would see them. Here they count from the time in milliseconds, which grows faster than the groups.
 */
function inOrder(connection: Connection): Connection {
  const publish = connection.publish.bind(connection);
  connection.publish = (path, broadcast) => {
    const subscribe = broadcast.subscribe.bind(broadcast);
    broadcast.subscribe = (name, priority) => {
      const track = subscribe(name, priority);
      track.writeGroup(new Net.Group(Date.now()));
      track.state.groups.set([]);
      return track;
    };
    publish(path, broadcast);
  };
  return connection;
}
