/**
 * Gives our media keys to the participants of the room, and gets theirs: each is encrypted for one page of one participant, under an agreement of
 * fresh keys (ECDH on P-256) that is bound to the secret of the room's link. Messages may be lost: frames whose key is missing ask again. SPEC rules
 * MEDIA-16, MEDIA-27, MEDIA-28.
 */
import type { ParticipantId } from '@parley/protocol/ids';
import { fromBase64, toBase64 } from '../../pages/base64.ts';
import type { Clock, KeySignal, Random, SecurityCode } from '../../ports.ts';
import { joined } from '../frames.ts';
import { AskTimes } from './ask-times.ts';
import type { FrameOpener, FrameSealer } from './frame-cipher.ts';
import { HeardKeys } from './heard-keys.ts';
import { OwnKeys } from './own-keys.ts';
import { Pace } from '../../net/pace.ts';
import { RoomSecret } from './room-secret.ts';
import { readKeys, writeKeys, type NumberedKey } from './sealed-keys.ts';

/** SPEC rule MEDIA-27. */
export const KEY_PACE = { burst: 150, perSecond: 25 };

const CURVE = { name: 'ECDH', namedCurve: 'P-256' };
const AGREED_BITS = 256;
const IV_BYTES = 12;
/** One who asks again so soon has an answer on its way. */
const GIVE_MS = 1000;
/** A participant that reloads has another public key: so often, and so many times. */
const CHANGE_MS = 1000;
const MAX_CHANGES = 100;

export interface KeyExchangeOptions {
  readonly subtle: SubtleCrypto;
  readonly clock: Clock;
  readonly random: Random;
  readonly room: string;
  /** Of the room's link, as accepted by `readSecret`. */
  readonly secret: string;
  readonly me: ParticipantId;
  /** Of this page (MEDIA-14). */
  readonly instance: string;
  /** `false`: it was not sent, as there is no socket or the participant is away. */
  readonly send: (to: ParticipantId, message: KeySignal) => boolean;
  /** Otherwise a new key is given to those who ask for it. */
  readonly isPublishing: () => boolean;
}

/** The page of a participant whose public key we know. */
interface Peer {
  readonly publicKey: string;
  /** From us to it, and back. */
  readonly keys: Promise<{ readonly to: CryptoKey; readonly from: CryptoKey }>;
  readonly since: number;
  /** It gave us a key. */
  isHeard: boolean;
  /** The number of our newest key that it was given, and when. */
  given: number;
  givenAt: number;
}

export class KeyExchange {
  readonly #options: KeyExchangeOptions;
  readonly #secret: RoomSecret;
  readonly #privateKey: CryptoKey;
  readonly #signed: Pick<KeySignal, 'type' | 'publicKey' | 'proof'>;
  readonly #own: OwnKeys;
  readonly #heard: HeardKeys;
  readonly #asks: AskTimes;
  readonly #pace: Pace;
  readonly #peers = new Map<ParticipantId, Peer>();
  /** Those who were given a key of ours; of them, those who lack the next. */
  readonly #holders = new Set<ParticipantId>();
  readonly #lacking = new Set<ParticipantId>();
  /** Public keys that a participant had before its present one. */
  readonly #replaced = new Map<ParticipantId, Set<string>>();
  #members: ReadonlySet<ParticipantId> = new Set();
  #code: { readonly of: string; readonly digits: Promise<string> } | null = null;
  #isClosed = false;

  private constructor(
    options: KeyExchangeOptions,
    secret: RoomSecret,
    {
      privateKey,
      ...signed
    }: { readonly privateKey: CryptoKey; readonly publicKey: string; readonly proof: string },
  ) {
    const { subtle, clock, random, room, me, instance } = options;
    this.#options = options;
    this.#secret = secret;
    this.#privateKey = privateKey;
    this.#signed = { type: 'key', ...signed };
    this.#asks = new AskTimes(clock);
    this.#pace = new Pace(clock, KEY_PACE);
    this.#own = new OwnKeys({
      subtle,
      clock,
      random,
      room,
      broadcast: `${me}/${instance}`,
      onNew: () => {
        for (const participant of this.#holders) this.#lacking.add(participant);
        this.#push();
      },
      isGiven: () => this.#lacking.size === 0 || !options.isPublishing(),
    });
    this.#heard = new HeardKeys({ subtle, clock, room, ask: (participant) => this.#ask(participant) });
  }

  /** Throws where the secret is not one. */
  static async of(options: KeyExchangeOptions): Promise<KeyExchange> {
    const { subtle, secret, room, me } = options;
    const pair = await subtle.generateKey(CURVE, false, ['deriveBits']);
    const publicKey = toBase64(new Uint8Array(await subtle.exportKey('raw', pair.publicKey)));
    const bound = await RoomSecret.of(subtle, secret, room);
    const proof = await bound.proof(me, publicKey);
    return new KeyExchange(options, bound, { privateKey: pair.privateKey, publicKey, proof });
  }

  /** Names the secret of the link in catalogs. */
  get id(): string {
    return this.#secret.id;
  }

  /** `members`: all others in the room. `wanted`: those whose media we want. Called often, as time alone changes what is due. */
  follow(members: ReadonlySet<ParticipantId>, wanted: Iterable<ParticipantId>): void {
    this.#members = members;
    this.#heard.keep(members);
    const gone = [...this.#holders].filter((participant) => !members.has(participant));
    for (const known of [this.#peers, this.#holders, this.#lacking])
      for (const participant of known.keys()) if (!members.has(participant)) known.delete(participant);
    this.#asks.keep(members);
    if (gone.length > 0) this.#own.rotate();
    this.#push();
    for (const participant of wanted) if (!this.#peers.get(participant)?.isHeard) this.#ask(participant);
  }

  /** A message of another participant. What is not meant for us, or not made with the secret of the link, is dropped. Never rejects. */
  async receive(from: ParticipantId, { publicKey, proof, asks, sealed }: KeySignal): Promise<void> {
    try {
      const peer = await this.#peer(from, publicKey, proof);
      if (peer === undefined) return;
      if (sealed !== undefined) await this.#take(from, peer, sealed);
      if (asks) await this.#give(from, peer);
    } catch {
      // Another secret, another page of ours, or no key at all.
    }
  }

  sealer(track: string): FrameSealer {
    return this.#own.sealer(track);
  }

  opener(participant: ParticipantId, instance: string, track: string): FrameOpener {
    return this.#heard.opener(participant, instance, track);
  }

  /** Of this page and of those with whom it exchanged keys; `null` while a key is in use that was given to another public key. */
  async code(): Promise<SecurityCode | null> {
    if (this.#own.isChanging) return null;
    const known = [...this.#peers].filter(([who, { isHeard }]) => isHeard && this.#holders.has(who));
    const keys = new Map(known.map(([participant, { publicKey }]) => [participant, publicKey]));
    const participants = [...keys.keys()];
    const listed = [...keys.set(this.#options.me, this.#signed.publicKey)].map((entry) => entry.join(' '));
    const of = listed.toSorted().join('\n');
    // It takes a while to derive, on purpose.
    if (this.#code?.of !== of) this.#code = { of, digits: this.#secret.code(of) };
    return { code: await this.#code.digits, participants };
  }

  close(): void {
    this.#isClosed = true;
    this.#own.close();
  }

  #ask(to: ParticipantId): void {
    if (this.#asks.isDue(to) && this.#post(to, { ...this.#signed, asks: true })) this.#asks.asked(to);
  }

  /** Those who had the last key and can be reached get the next one before it is used. */
  #push(): void {
    const { next } = this.#own;
    if (next === null || !this.#options.isPublishing()) return;
    for (const participant of this.#lacking) {
      const peer = this.#peers.get(participant);
      // Otherwise it is on its way.
      if (peer !== undefined && peer.given < next.number)
        this.#send(participant, peer, [next]).catch(() => undefined);
    }
  }

  async #give(to: ParticipantId, peer: Peer): Promise<void> {
    const keys = this.#own.all;
    const newest = keys.at(-1)?.number;
    if (peer.given === newest && this.#options.clock.now() - peer.givenAt < GIVE_MS) return;
    await this.#send(to, peer, keys);
  }

  async #send(to: ParticipantId, peer: Peer, keys: readonly NumberedKey[]): Promise<void> {
    const before = { given: peer.given, givenAt: peer.givenAt };
    peer.given = keys.at(-1)?.number ?? -1;
    peer.givenAt = this.#options.clock.now();
    const sealed = await this.#seal(peer, keys).catch((error: unknown) => {
      Object.assign(peer, before);
      throw error;
    });
    // It left, or was reloaded, in the meantime.
    if (this.#peers.get(to) !== peer || this.#isClosed) return;
    this.#holders.add(to);
    if (!this.#post(to, { ...this.#signed, asks: !peer.isHeard, sealed })) Object.assign(peer, before);
    const { next } = this.#own;
    if (next !== null && peer.given < next.number) this.#lacking.add(to);
    else this.#lacking.delete(to);
  }

  async #seal({ keys: pair }: Peer, keys: readonly NumberedKey[]): Promise<string> {
    const { subtle, random, instance } = this.#options;
    const iv = new Uint8Array(random.bytes(IV_BYTES));
    const plain = writeKeys(keys, instance);
    const closed = await subtle.encrypt({ name: 'AES-GCM', iv }, (await pair).to, plain);
    return toBase64(joined(iv, new Uint8Array(closed)));
  }

  async #take(from: ParticipantId, peer: Peer, sealed: string): Promise<void> {
    const bytes = fromBase64(sealed) ?? new Uint8Array();
    const [iv, closed] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES)];
    const plain = await this.#options.subtle.decrypt({ name: 'AES-GCM', iv }, (await peer.keys).from, closed);
    if (this.#peers.get(from) !== peer) return;
    const { keys, instance } = readKeys(plain);
    peer.isHeard = true;
    this.#asks.answered(from);
    for (const key of keys) this.#heard.add(from, instance, key);
  }

  /** `undefined` for one who is not in the room, or a public key that was not made with the secret of the link or was replaced. */
  async #peer(participant: ParticipantId, publicKey: string, proof: string): Promise<Peer | undefined> {
    const { clock } = this.#options;
    const known = this.#peers.get(participant);
    if (known?.publicKey === publicKey) return known;
    const replaced = this.#replaced.get(participant) ?? new Set();
    const isTooSoon = known !== undefined && clock.now() - known.since < CHANGE_MS;
    if (isTooSoon || replaced.has(publicKey) || replaced.size >= MAX_CHANGES) return undefined;
    const isProven = (await this.#secret.proof(participant, publicKey)) === proof;
    if (!isProven || !this.#members.has(participant)) return undefined;
    // Another message may have been first.
    const present = this.#peers.get(participant);
    if (present !== known) return present?.publicKey === publicKey ? present : undefined;
    const keys = this.#agree(participant, publicKey);
    // It is awaited where it is used.
    keys.catch(() => undefined);
    const peer: Peer = { publicKey, keys, since: clock.now(), isHeard: false, given: -1, givenAt: -GIVE_MS };
    this.#peers.set(participant, peer);
    this.#heard.expect(participant, publicKey);
    if (known !== undefined) this.#replace(participant, known.publicKey, replaced);
    return peer;
  }

  /** What the page before had is not used any more: it may have been the page of another one. */
  #replace(participant: ParticipantId, publicKey: string, replaced: Set<string>): void {
    this.#replaced.set(participant, replaced.add(publicKey));
    this.#asks.answered(participant);
    this.#lacking.delete(participant);
    if (this.#holders.delete(participant)) this.#own.rotate();
  }

  async #agree(participant: ParticipantId, publicKey: string): Promise<{ to: CryptoKey; from: CryptoKey }> {
    const { subtle, me } = this.#options;
    const point = fromBase64(publicKey) ?? new Uint8Array();
    const theirs = await subtle.importKey('raw', point, CURVE, false, []);
    const agreed = await subtle.deriveBits({ name: 'ECDH', public: theirs }, this.#privateKey, AGREED_BITS);
    const ours = `${me} ${this.#signed.publicKey}`;
    const other = `${participant} ${publicKey}`;
    const [to, from] = await Promise.all([
      this.#secret.pairKey(agreed, `${ours} ${other}`),
      this.#secret.pairKey(agreed, `${other} ${ours}`),
    ]);
    return { to, from };
  }

  #post(to: ParticipantId, message: KeySignal): boolean {
    if (this.#isClosed || !this.#pace.allows() || !this.#options.send(to, message)) return false;
    this.#pace.take();
    return true;
  }
}
