/** How loud each other participant is played in this call, 0 to 1; a reload changes nothing. */
import type { ParticipantId } from '@parley/protocol/ids';
import { signal } from '@preact/signals';
import { tabStore } from '../memory/storage.ts';

type Volume = readonly [ParticipantId, number];

export class Volumes {
  readonly #key: string;
  readonly #set = signal<ReadonlyMap<ParticipantId, number>>(new Map());

  constructor(room: string) {
    this.#key = `parley.volumes.${room}`;
    const stored = new URLSearchParams(tabStore.read(this.#key) ?? '');
    this.#set.value = new Map([...stored].map(([of, percent]) => [of, shareOf(Number(percent) / 100)]));
  }

  /** Those that were set. */
  get all(): readonly Volume[] {
    return [...this.#set.value];
  }

  of(participant: ParticipantId): number {
    return this.#set.value.get(participant) ?? 1;
  }

  set(participant: ParticipantId, volume: number): void {
    this.#set.value = new Map(this.#set.peek()).set(participant, shareOf(volume));
    const percents = this.all.map(([of, share]) => [of, `${Math.round(share * 100)}`]);
    tabStore.write(this.#key, new URLSearchParams(percents).toString());
  }
}

const shareOf = (volume: number): number => Math.min(1, Math.max(0, volume || 0));

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
