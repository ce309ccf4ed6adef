/**
 * Gives our media keys to the participants of the room, and gets theirs: each is encrypted for one page of one participant, under an agreement of
 * fresh keys (ECDH on P-256) that is bound to the secret of the room's link. Messages may be lost: frames whose key is missing ask again. SPEC rules
 * MEDIA-16, MEDIA-27, MEDIA-28.
 */
import type { ParticipantId } from '@parley/protocol/ids';
import { fromBase64, toBase64 } from '../../pages/base64.ts';
import type { Clock, KeySignal, Random, SecurityCode } from '../../ports.ts';
import type { FrameOpener, FrameSealer } from './frame-cipher.ts';
import { HeardKeys } from './heard-keys.ts';
import { KEY_BYTES, OwnKeys, type OwnKey } from './own-keys.ts';
import { RoomSecret } from './room-secret.ts';

const CURVE = { name: 'ECDH', namedCurve: 'P-256' };
const AGREED_BITS = 256;
const IV_BYTES = 12;
const NUMBER_BYTES = 4;
/** Between two requests to one participant, and two answers: a participant that asks without end costs us nothing that our own rate would notice. */
const ASK_MS = 400;
const GIVE_MS = 250;

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
  /** Lost without a socket, and to a participant who is away. */
  readonly send: (to: ParticipantId, message: KeySignal) => void;
  /** Otherwise a new key is given to those who ask for it. */
  readonly isPublishing: () => boolean;
}

/** A participant whose public key we know. */
interface Peer {
  readonly publicKey: string;
  /** From us to it, and back. */
  readonly keys: Promise<{ readonly to: CryptoKey; readonly from: CryptoKey }>;
  /** It gave us a key of that page. */
  isHeard: boolean;
}

export class KeyExchange {
  readonly #options: KeyExchangeOptions;
  readonly #secret: RoomSecret;
  readonly #privateKey: CryptoKey;
  readonly #publicKey: string;
  readonly #proof: string;
  readonly #own: OwnKeys;
  readonly #heard: HeardKeys;
  readonly #peers = new Map<ParticipantId, Peer>();
  /** Those who were given a key of ours, on whichever page. */
  readonly #holders = new Set<ParticipantId>();
  readonly #askedAt = new Map<ParticipantId, number>();
  readonly #givenAt = new Map<ParticipantId, number>();
  #members: ReadonlySet<ParticipantId> = new Set();
  #code: { readonly of: string; readonly digits: Promise<string> } | null = null;

  private constructor(
    options: KeyExchangeOptions,
    secret: RoomSecret,
    pair: { readonly privateKey: CryptoKey; readonly publicKey: string; readonly proof: string },
  ) {
    const { subtle, clock, random, room, me, instance } = options;
    this.#options = options;
    this.#secret = secret;
    this.#privateKey = pair.privateKey;
    this.#publicKey = pair.publicKey;
    this.#proof = pair.proof;
    this.#own = new OwnKeys({
      subtle,
      clock,
      random,
      room,
      broadcast: `${me}/${instance}`,
      onNew: (key) => this.#push(key),
    });
    this.#heard = new HeardKeys({ subtle, clock, room, ask: (participant) => this.#ask(participant) });
  }

  /** Throws where the secret is not one. */
  static async of(options: KeyExchangeOptions): Promise<KeyExchange> {
    const { subtle, secret, room, me } = options;
    const { privateKey, publicKey } = await subtle.generateKey(CURVE, false, ['deriveBits']);
    const point = toBase64(new Uint8Array(await subtle.exportKey('raw', publicKey)));
    const bound = await RoomSecret.of(subtle, secret, room);
    const proof = await bound.proof(me, point);
    return new KeyExchange(options, bound, { privateKey, publicKey: point, proof });
  }

  /** Names the secret of the link in catalogs. */
  get id(): string {
    return this.#secret.id;
  }

  /** `members`: all others in the room. `heard`: those whose media we want. */
  follow(members: ReadonlySet<ParticipantId>, heard: Iterable<ParticipantId>): void {
    this.#members = members;
    this.#heard.keep(members);
    const gone = [...this.#holders].filter((participant) => !members.has(participant));
    for (const known of [this.#peers, this.#holders, this.#askedAt, this.#givenAt])
      for (const participant of known.keys()) if (!members.has(participant)) known.delete(participant);
    if (gone.length > 0) this.#own.rotate();
    for (const participant of heard) if (!this.#askedAt.has(participant)) this.#ask(participant);
  }

  /** A message of another participant. What is not meant for us, or not made with the secret of the link, is dropped. Never rejects. */
  async receive(from: ParticipantId, { publicKey, proof, asks, sealed }: KeySignal): Promise<void> {
    try {
      const peer = await this.#peer(from, publicKey, proof);
      if (peer === undefined) return;
      if (sealed !== undefined) await this.#take(from, peer, sealed);
      if (asks) await this.#give(from, peer, this.#own.all);
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

  /** Of this page and of those participants whose keys it has. */
  async code(): Promise<SecurityCode> {
    const known = [...this.#peers].filter(([participant]) => this.#members.has(participant));
    const keys = new Map(known.map(([participant, { publicKey }]) => [participant, publicKey]));
    const participants = [...keys.keys()];
    const listed = [...keys.set(this.#options.me, this.#publicKey)].map((entry) => entry.join(' '));
    const of = listed.toSorted().join('\n');
    // It takes a while to derive, on purpose.
    if (this.#code?.of !== of) this.#code = { of, digits: this.#secret.code(of) };
    return { code: await this.#code.digits, participants };
  }

  close(): void {
    this.#own.close();
  }

  #ask(to: ParticipantId): void {
    if (isSoon(this.#askedAt, to, ASK_MS, this.#options.clock)) return;
    this.#options.send(to, { ...this.#signed, asks: true });
  }

  /** Participants who are here and had the last key get the next one before it is used. */
  #push(key: OwnKey): void {
    if (!this.#options.isPublishing()) return;
    for (const [participant, peer] of this.#peers)
      if (this.#holders.has(participant)) this.#send(participant, peer, key).catch(() => undefined);
  }

  async #give(to: ParticipantId, peer: Peer, keys: readonly OwnKey[]): Promise<void> {
    if (isSoon(this.#givenAt, to, GIVE_MS, this.#options.clock)) return;
    for (const key of keys) await this.#send(to, peer, key);
  }

  async #send(to: ParticipantId, peer: Peer, { number, bytes }: OwnKey): Promise<void> {
    const { subtle, random, send, instance } = this.#options;
    const plain = new Uint8Array([...uint32(number), ...bytes, ...new TextEncoder().encode(instance)]);
    const iv = new Uint8Array(random.bytes(IV_BYTES));
    const closed = await subtle.encrypt({ name: 'AES-GCM', iv }, (await peer.keys).to, plain);
    // It left, or was reloaded, in the meantime.
    if (this.#peers.get(to) !== peer) return;
    this.#holders.add(to);
    const sealed = toBase64(new Uint8Array([...iv, ...new Uint8Array(closed)]));
    send(to, { ...this.#signed, asks: !peer.isHeard, sealed });
  }

  async #take(from: ParticipantId, peer: Peer, sealed: string): Promise<void> {
    const bytes = fromBase64(sealed) ?? new Uint8Array();
    const [iv, closed] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES)];
    const opened = await this.#options.subtle.decrypt(
      { name: 'AES-GCM', iv },
      (await peer.keys).from,
      closed,
    );
    peer.isHeard = true;
    const key = new Uint8Array(opened, NUMBER_BYTES, KEY_BYTES);
    const instance = new TextDecoder().decode(opened.slice(NUMBER_BYTES + KEY_BYTES));
    this.#heard.add(from, instance, { number: new DataView(opened).getUint32(0), bytes: key });
  }

  get #signed(): Pick<KeySignal, 'type' | 'publicKey' | 'proof'> {
    return { type: 'key', publicKey: this.#publicKey, proof: this.#proof };
  }

  /** `undefined` for one who is not in the room, or a public key that was not made with the secret of the link. */
  async #peer(participant: ParticipantId, publicKey: string, proof: string): Promise<Peer | undefined> {
    const known = this.#peers.get(participant);
    if (known?.publicKey === publicKey) return known;
    const isProven = (await this.#secret.proof(participant, publicKey)) === proof;
    if (!isProven || !this.#members.has(participant)) return undefined;
    const keys = this.#agree(participant, publicKey);
    // It is awaited where it is used.
    keys.catch(() => undefined);
    const peer: Peer = { publicKey, keys, isHeard: false };
    // Another page: what the one before was asked for is forgotten.
    this.#askedAt.delete(participant);
    this.#givenAt.delete(participant);
    this.#peers.set(participant, peer);
    return peer;
  }

  async #agree(participant: ParticipantId, publicKey: string): Promise<{ to: CryptoKey; from: CryptoKey }> {
    const { subtle, me } = this.#options;
    const point = fromBase64(publicKey) ?? new Uint8Array();
    const theirs = await subtle.importKey('raw', point, CURVE, false, []);
    const agreed = await subtle.deriveBits({ name: 'ECDH', public: theirs }, this.#privateKey, AGREED_BITS);
    const ours = `${me} ${this.#publicKey}`;
    const other = `${participant} ${publicKey}`;
    const [to, from] = await Promise.all([
      this.#secret.pairKey(agreed, `${ours} ${other}`),
      this.#secret.pairKey(agreed, `${other} ${ours}`),
    ]);
    return { to, from };
  }
}

/** Whether that was less than `ms` ago; otherwise it is now. */
function isSoon(
  times: Map<ParticipantId, number>,
  participant: ParticipantId,
  ms: number,
  clock: Clock,
): boolean {
  const now = clock.now();
  if (now - (times.get(participant) ?? Number.NEGATIVE_INFINITY) < ms) return true;
  times.set(participant, now);
  return false;
}

function uint32(value: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(NUMBER_BYTES));
  view.setUint32(0, value);
  return new Uint8Array(view.buffer);
}
