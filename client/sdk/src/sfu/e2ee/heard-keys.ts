/** The keys under which the other participants send. SPEC rules MEDIA-16, MEDIA-28. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Clock } from '../../ports.ts';
import { frameOpener, type FrameOpener } from './frame-cipher.ts';
import { LONGEST_MS } from './own-keys.ts';
import { trackBaseKey } from './room-secret.ts';
import type { NumberedKey } from './sealed-keys.ts';
import { sframeKey, type SFrameKey } from './sframe.ts';

/** How long frames wait for their key. */
const WAIT_MS = 1000;
/** An earlier key opens what was on its way when the next one was used first, and nothing later. */
const OLD_MS = 2000;
/** Made-up key ids find no place. */
const MAX_AWAITED = 4;
const MAX_WAITING_FRAMES = 300;
const MAX_KEYS = 8;
/** A page publishes four sources in two qualities; a participant reloads a few times. */
const MAX_TRACKS = 64;
/** Those who have gone are remembered, too. */
const MAX_PEOPLE = 2000;

interface HeardKey {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly heardAt: number;
}

interface Sender {
  /** Of the page that the keys are of: all its messages have one public key, and it has one broadcast. */
  publicKey: string;
  instance: string | null;
  readonly keys: Map<number, HeardKey>;
  /** The greatest number under which a frame was decrypted, and since when. */
  used: number;
  usedAt: number;
  /** By page and track, the greatest counter of a frame that was decrypted. */
  readonly opened: Map<string, number>;
}

type Awaited = PromiseWithResolvers<Uint8Array<ArrayBuffer> | undefined>;

export interface HeardKeysOptions {
  readonly subtle: SubtleCrypto;
  readonly clock: Clock;
  readonly room: string;
  /** Frames of this participant need a key that is not here. Called often. */
  readonly ask: (participant: ParticipantId) => void;
}

export class HeardKeys {
  readonly #options: HeardKeysOptions;
  readonly #senders = new Map<ParticipantId, Sender>();
  readonly #awaited = new Map<ParticipantId, Map<string, Awaited>>();

  constructor(options: HeardKeysOptions) {
    this.#options = options;
  }

  /** From now on the keys of this participant are of the page with this public key: those of another one are forgotten. */
  expect(participant: ParticipantId, publicKey: string): void {
    const known = this.#senders.get(participant);
    if (known?.publicKey === publicKey) return;
    const opened = known?.opened ?? new Map<string, number>();
    this.#senders.set(participant, {
      publicKey,
      instance: null,
      keys: new Map(),
      used: -1,
      usedAt: 0,
      opened,
    });
    dropOldest(this.#senders, MAX_PEOPLE);
  }

  /** A key arrived. Nothing changes by one under a number that is known, or of a page that is not that of its public key. */
  add(participant: ParticipantId, instance: string, { number, bytes }: NumberedKey): void {
    const sender = this.#senders.get(participant);
    if (sender === undefined || (sender.instance ?? instance) !== instance) return;
    if (sender.keys.has(number)) return;
    sender.instance = instance;
    sender.keys.set(number, { bytes, heardAt: this.#options.clock.now() });
    if (sender.keys.size > MAX_KEYS) sender.keys.delete(Math.min(...sender.keys.keys()));
    const awaited = this.#awaited.get(participant);
    awaited?.get(`${instance} ${number}`)?.resolve(bytes);
    awaited?.delete(`${instance} ${number}`);
  }

  /** Forgets the keys of all others, and remembers how far they were used. */
  keep(members: { has(participant: ParticipantId): boolean }): void {
    for (const [participant, { keys }] of this.#senders) if (!members.has(participant)) keys.clear();
    for (const participant of this.#awaited.keys())
      if (!members.has(participant)) this.#awaited.delete(participant);
  }

  /** Decrypts a track from now on: nothing that was decrypted before, so that a relay cannot play it again. */
  opener(participant: ParticipantId, instance: string, track: string): FrameOpener {
    const { subtle, clock } = this.#options;
    const place = `${instance}/${track}`;
    return frameOpener({
      subtle,
      after: this.#senders.get(participant)?.opened.get(place) ?? -1,
      key: this.#trackKeys(participant, instance, track),
      onOpened: ({ kid, counter }) => {
        const sender = this.#senders.get(participant);
        if (sender === undefined) return;
        sender.opened.set(place, Math.max(counter, sender.opened.get(place) ?? -1));
        dropOldest(sender.opened, MAX_TRACKS);
        if (kid <= sender.used || sender.instance !== instance) return;
        sender.used = kid;
        sender.usedAt = clock.now();
      },
    });
  }

  #trackKeys(
    participant: ParticipantId,
    instance: string,
    track: string,
  ): (kid: number) => Promise<SFrameKey | undefined> {
    const { subtle, room } = this.#options;
    let waiting = 0;
    let used: { readonly of: Uint8Array; readonly key: Promise<SFrameKey> } | null = null;
    return async (kid) => {
      if (waiting >= MAX_WAITING_FRAMES) return undefined;
      waiting += 1;
      const bytes = await this.#key(participant, instance, kid).finally(() => (waiting -= 1));
      if (bytes === undefined) return undefined;
      if (used?.of !== bytes) {
        const base = trackBaseKey(subtle, bytes, room, `${participant}/${instance}/${track}`);
        used = { of: bytes, key: base.then((key) => sframeKey(subtle, key, kid)) };
      }
      return used.key;
    };
  }

  async #key(
    participant: ParticipantId,
    instance: string,
    number: number,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const sender = this.#senders.get(participant);
    const known = sender?.instance === instance ? sender.keys.get(number) : undefined;
    if (sender !== undefined && known !== undefined)
      return this.#isOver(sender, number) ? undefined : known.bytes;
    // A key before those in use does not come back.
    if (sender?.instance === instance && number < sender.used) return undefined;
    const awaited = this.#await(participant, `${instance} ${number}`);
    if (awaited !== undefined) this.#options.ask(participant);
    return awaited?.promise;
  }

  /** A later key has been used for a while, or should have been by now. */
  #isOver({ keys, used, usedAt }: Sender, number: number): boolean {
    const now = this.#options.clock.now();
    if (number < used && now - usedAt >= OLD_MS) return true;
    return [...keys].some(([later, { heardAt }]) => later > number && now - heardAt >= LONGEST_MS + OLD_MS);
  }

  #await(participant: ParticipantId, name: string): Awaited | undefined {
    const awaited = this.#awaited.get(participant) ?? new Map<string, Awaited>();
    this.#awaited.set(participant, awaited);
    const known = awaited.get(name);
    if (known !== undefined) return known;
    if (awaited.size >= MAX_AWAITED) return undefined;
    const wanted: Awaited = Promise.withResolvers();
    awaited.set(name, wanted);
    this.#options.clock.after(WAIT_MS, () => {
      wanted.resolve(undefined);
      if (awaited.get(name) === wanted) awaited.delete(name);
    });
    return wanted;
  }
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
