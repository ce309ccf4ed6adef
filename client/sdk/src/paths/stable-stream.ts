/** A stream that stays the same object while its tracks change: an element goes on showing the last picture until the next one is there. */

export class StableStream {
  readonly #create: () => MediaStream;
  #stream: MediaStream | null = null;

  constructor(create: () => MediaStream) {
    this.#create = create;
  }

  /** The stream with exactly these tracks; as it was where they are not known. `null` before there were any. */
  of(tracks: readonly MediaStreamTrack[] | null): MediaStream | null {
    if (tracks === null || (tracks.length === 0 && this.#stream === null)) return this.#stream;
    const stream = (this.#stream ??= this.#create());
    const present = stream.getTracks();
    const added = tracks.filter((track) => !present.includes(track));
    // Firefox shows one picture until it is gone, and then the next that comes. Voices come before it goes: without tracks a stream has ended.
    for (const track of added) if (track.kind !== 'video') add(stream, track);
    for (const track of present) if (!tracks.includes(track)) stream.removeTrack(track);
    for (const track of added) if (track.kind === 'video') add(stream, track);
    return stream;
  }
}

/** As when a track comes from the network, so that whoever plays it starts. */
function add(stream: MediaStream, track: MediaStreamTrack): void {
  stream.addTrack(track);
  stream.dispatchEvent(new Event('addtrack'));
}
