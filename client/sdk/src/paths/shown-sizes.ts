/** How large the application shows each camera, and which of them are fetched through relays. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Member } from '@parley/protocol/people';
import type { Size } from '../media.ts';

/** The most cameras that are fetched at once; the audio of every participant is. */
const MAX_CAMERAS = 16;
/** Until the application says how large it shows a participant. */
const DEFAULT_SIZE: Size = { width: 320, height: 180 };

export class ShownSizes {
  readonly #sizes = new Map<ParticipantId, Size | null>();

  /** `null`: not shown. Whether that is a change. */
  set(participant: ParticipantId, size: Size | null): boolean {
    const before = this.#sizes.get(participant);
    const same = before?.width === size?.width && before?.height === size?.height;
    if (this.#sizes.has(participant) && same) return false;
    this.#sizes.set(participant, size);
    return true;
  }

  keep(members: { has(participant: ParticipantId): boolean }): void {
    for (const participant of this.#sizes.keys())
      if (!members.has(participant)) this.#sizes.delete(participant);
  }

  /** What to fetch of each of these participants, the first ones first; `null`: audio only, as of those whose camera is off. */
  of(
    subscribed: readonly ParticipantId[],
    members: ReadonlyMap<ParticipantId, Pick<Member, 'media'>>,
  ): Map<ParticipantId, Size | null> {
    let left = MAX_CAMERAS;
    const wanted = new Map<ParticipantId, Size | null>();
    for (const participant of subscribed) {
      const shown = this.#sizes.has(participant) ? (this.#sizes.get(participant) ?? null) : DEFAULT_SIZE;
      const size = members.get(participant)?.media.video ? shown : null;
      if (size !== null) left -= 1;
      wanted.set(participant, left >= 0 ? size : null);
    }
    return wanted;
  }
}
