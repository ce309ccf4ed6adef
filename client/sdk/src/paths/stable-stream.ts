/** A stream that stays the same object while its tracks change: an element shows the last frame until the next one arrives. */

export class StableStream {
  readonly #create: () => MediaStream;
  #stream: MediaStream | null = null;

  constructor(create: () => MediaStream) {
    this.#create = create;
  }

  /** The stream with exactly these tracks; unchanged if they are not known. `null` before the first tracks. */
  of(tracks: readonly MediaStreamTrack[] | null): MediaStream | null {
    if (tracks === null || (tracks.length === 0 && this.#stream === null)) return this.#stream;
    const stream = (this.#stream ??= this.#create());
    const present = stream.getTracks();
    const added = tracks.filter((track) => !present.includes(track));
    // Firefox shows a video track until it is removed, and then the next one. Audio tracks are added before that, because a stream without tracks has
    // ended.
    for (const track of added) if (track.kind !== 'video') add(stream, track);
    for (const track of present) if (!tracks.includes(track)) stream.removeTrack(track);
    for (const track of added) if (track.kind === 'video') add(stream, track);
    return stream;
  }
}

/** Fires the event that a track from the network fires, so that a player starts. */
function add(stream: MediaStream, track: MediaStreamTrack): void {
  stream.addTrack(track);
  stream.dispatchEvent(new Event('addtrack'));
}
