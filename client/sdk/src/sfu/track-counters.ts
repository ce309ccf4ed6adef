/** The counters of one received or sent track since it began. */
import type { Count } from '../measure/figures.ts';
import type { Role } from '../media.ts';

export class TrackCounters {
  frames = 0;
  /** Dropped frames: too late, or more than could be decoded. */
  lost = 0;
  /** Groups whose rest did not arrive. */
  cut = 0;
  #bytes = 0;
  #packets = 0;
  #waitedMs = 0;
  #waits = 0;

  /** A frame of this size arrived and waits this long until it is played. */
  came(bytes: number, waitsMs: number): void {
    this.sent(bytes);
    this.#waitedMs += waitsMs;
    this.#waits += 1;
  }

  sent(bytes: number): void {
    this.#bytes += bytes;
    this.#packets += 1;
  }

  count(
    source: Role,
    { codec, codedWidth, codedHeight }: { codec: string; codedWidth?: number; codedHeight?: number },
  ): Count {
    return {
      source,
      codec,
      width: codedWidth ?? null,
      height: codedHeight ?? null,
      bytes: this.#bytes,
      frames: codedWidth === undefined ? null : this.frames,
      packets: this.#packets,
      lost: this.lost,
      waitedMs: this.#waitedMs,
      waits: this.#waits,
      freezes: null,
    };
  }
}
