/** How loud each other participant is played in this call, 0 to 1. */
import type { ParticipantId } from '@parley/protocol/ids';
import { signal } from '@preact/signals';

export class Volumes {
  readonly #set = signal<ReadonlyMap<ParticipantId, number>>(new Map());

  of(participant: ParticipantId): number {
    return this.#set.value.get(participant) ?? 1;
  }

  set(participant: ParticipantId, volume: number): void {
    this.#set.value = new Map(this.#set.peek()).set(participant, Math.min(1, Math.max(0, volume)));
  }
}

let adjustable: boolean | undefined;

/** iPhones and iPads play all audio at the volume of the device. */
export function canSetVolume(): boolean {
  if (adjustable === undefined) {
    const audio = document.createElement('audio');
    audio.volume = 0.5;
    adjustable = audio.volume === 0.5;
  }
  return adjustable;
}
