/** The keys under which the other participants send, by page. SPEC rules MEDIA-16, MEDIA-28. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Clock } from '../../ports.ts';
import { frameOpener, type FrameOpener } from './frame-cipher.ts';
import type { OwnKey } from './own-keys.ts';
import { trackBaseKey } from './room-secret.ts';
import { sframeKey, type SFrameKey } from './sframe.ts';

/** How long frames wait for their key. */
const WAIT_MS = 1000;
/** An earlier key opens what was on its way when the next one came, and nothing later. */
const OLD_MS = 2000;
/** A participant reloads a few times; its earlier pages send nothing any more. */
const MAX_PAGES = 4;
/** Made-up key ids find no place. */
const MAX_AWAITED = 4;
const MAX_WAITING_FRAMES = 300;
/** A page publishes four sources in two qualities. */
const MAX_TRACKS = 32;

interface Page {
  readonly keys: Map<number, Uint8Array<ArrayBuffer>>;
  readonly awaited: Map<number, PromiseWithResolvers<Uint8Array<ArrayBuffer> | undefined>>;
  /** The newest group of each track of which a frame was decrypted. */
  readonly opened: Map<string, number>;
  newest: number;
  newestAt: number;
}

export interface HeardKeysOptions {
  readonly subtle: SubtleCrypto;
  readonly clock: Clock;
  readonly room: string;
  /** Frames of this participant need a key that is not here. Called often. */
  readonly ask: (participant: ParticipantId) => void;
}

export class HeardKeys {
  readonly #options: HeardKeysOptions;
  readonly #people = new Map<ParticipantId, Map<string, Page>>();

  constructor(options: HeardKeysOptions) {
    this.#options = options;
  }

  /** A key arrived. One that follows a newer key, other than right behind it, changes nothing. */
  add(participant: ParticipantId, instance: string, { number, bytes }: OwnKey): void {
    const { clock } = this.#options;
    const page = this.#page(participant, instance);
    const isOld = number < page.newest && clock.now() - page.newestAt > OLD_MS;
    if (isOld || number < page.newest - 1 || page.keys.has(number)) return;
    page.keys.set(number, bytes);
    page.awaited.get(number)?.resolve(bytes);
    page.awaited.delete(number);
    if (number <= page.newest) return;
    page.newest = number;
    page.newestAt = clock.now();
    clock.after(OLD_MS, () => {
      for (const known of page.keys.keys()) if (known < number) page.keys.delete(known);
    });
  }

  /** Forgets the keys of all others. */
  keep(members: ReadonlySet<ParticipantId>): void {
    for (const participant of this.#people.keys())
      if (!members.has(participant)) this.#people.delete(participant);
  }

  /** Decrypts a track from now on: nothing of groups before those that were decrypted already, so that a relay cannot play them again. */
  opener(participant: ParticipantId, instance: string, track: string): FrameOpener {
    const page = this.#page(participant, instance);
    const from = page.opened.get(track) ?? 0;
    const opener = frameOpener(this.#options.subtle, this.#trackKeys(participant, instance, track));
    return {
      decrypt: async (group, index, frame) => {
        if (group < from) return undefined;
        const opened = await opener.decrypt(group, index, frame);
        if (opened !== undefined) noteOpened(page, track, group);
        return opened;
      },
    };
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
    const page = this.#page(participant, instance);
    const known = page.keys.get(number);
    if (known !== undefined || number < page.newest) return known;
    const awaited = page.awaited.get(number) ?? this.#await(page, number);
    if (awaited !== undefined) this.#options.ask(participant);
    return awaited?.promise;
  }

  #await(
    { awaited }: Page,
    number: number,
  ): PromiseWithResolvers<Uint8Array<ArrayBuffer> | undefined> | undefined {
    if (awaited.size >= MAX_AWAITED) return undefined;
    const wanted = Promise.withResolvers<Uint8Array<ArrayBuffer> | undefined>();
    awaited.set(number, wanted);
    this.#options.clock.after(WAIT_MS, () => {
      wanted.resolve(undefined);
      if (awaited.get(number) === wanted) awaited.delete(number);
    });
    return wanted;
  }

  #page(participant: ParticipantId, instance: string): Page {
    const pages = this.#people.get(participant) ?? new Map<string, Page>();
    const known = pages.get(instance);
    if (known !== undefined) return known;
    const page: Page = { keys: new Map(), awaited: new Map(), opened: new Map(), newest: -1, newestAt: 0 };
    this.#people.set(participant, pages.set(instance, page));
    dropOldest(pages, MAX_PAGES);
    return page;
  }
}

function noteOpened({ opened }: Page, track: string, group: number): void {
  opened.set(track, Math.max(group, opened.get(track) ?? 0));
  dropOldest(opened, MAX_TRACKS);
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
