/** Publishes one broadcast with `@moq/publish`: loaded only where somebody goes live. */
import { Broadcast, Net, Signals } from '@moq/publish';
import type { Publisher, Sent, Shown } from './publish-session.ts';

export const { connect } = Net.Connection;
type Connection = Awaited<ReturnType<typeof connect>>;

const { Signal } = Signals;
type VideoTrack = NonNullable<ReturnType<Broadcast['video']['source']['peek']>>;
type AudioTrack = NonNullable<ReturnType<Broadcast['audio']['source']['peek']>>;

/** Full HD: text of a screen can be read, and a machine without a hardware encoder keeps up. */
const MOST_PIXELS = 1920 * 1080;

export class MoqPublisher implements Publisher<Connection> {
  readonly #connection = new Signal<Connection | undefined>(undefined);
  readonly #broadcast = new Broadcast({
    connection: this.#connection,
    enabled: true,
    video: { hd: { config: { maxPixels: MOST_PIXELS } } },
  });

  use(connection: { readonly on: Connection; readonly broadcast: string } | null): void {
    if (connection) this.#broadcast.name.set(Net.Path.from(connection.broadcast));
    this.#connection.set(connection?.on);
  }

  show({ picture, sound, muted }: Shown): void {
    const { video, audio } = this.#broadcast;
    // The library's types ask for what every browser's settings have.
    video.source.set((picture ?? undefined) as VideoTrack | undefined);
    audio.source.set((sound ?? undefined) as AudioTrack | undefined);
    video.hd.enabled.set(picture !== null);
    audio.enabled.set(sound !== null);
    audio.muted.set(muted);
  }

  sent(): Sent {
    const { video, audio } = this.#broadcast;
    const picture = video.hd.resolved.peek();
    const sound = audio.config.peek();
    return {
      width: picture?.width ?? 0,
      height: picture?.height ?? 0,
      bits: (picture?.bitrate ?? 0) + (sound?.bitrate ?? 0),
      codecs: [picture?.codec, sound?.codec].filter((codec) => codec !== undefined),
      wanted: video.hd.active.peek() || audio.active.peek(),
    };
  }

  close(): void {
    this.#broadcast.close();
  }
}
