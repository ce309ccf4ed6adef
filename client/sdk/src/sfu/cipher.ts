/**
 * The optional end-to-end encryption of relayed media: frames are encrypted between encoder and relay, and decrypted between relay and decoder. The
 * secret is in the fragment of the room's link, which browsers send to no server. AES-128-GCM with one key per track, derived by HKDF-SHA-256 from
 * the secret, the room and the full name of the track; the nonce is the number of the group (64 bits) and that of the frame in it (32 bits),
 * neither of which a page uses twice; the time of the frame is authenticated. SPEC rule MEDIA-16.
 */
import { toHex } from '../pages/base64.ts';
import { decodeFrame, joinFrame } from './frames.ts';
import { readSecret } from './secret.ts';

const TAG_BYTES = 16;
const ID_BYTES = 8;

const text = new TextEncoder();

export class RoomCipher {
  /** An id of the secret that does not reveal it: 16 hex digits. */
  readonly id: string;
  readonly #subtle: SubtleCrypto;
  readonly #secret: CryptoKey;
  readonly #room: string;

  private constructor(id: string, subtle: SubtleCrypto, secret: CryptoKey, room: string) {
    this.id = id;
    this.#subtle = subtle;
    this.#secret = secret;
    this.#room = room;
  }

  /** `secret`: base64url, as accepted by `readSecret`. */
  static async of(subtle: SubtleCrypto, secret: string, room: string): Promise<RoomCipher> {
    const bytes = readSecret(secret);
    if (bytes === undefined) throw new Error('the end-to-end key is not one');
    const key = await subtle.importKey('raw', bytes, 'HKDF', false, ['deriveBits', 'deriveKey']);
    const bits = await subtle.deriveBits(derivation(room, 'id'), key, 8 * ID_BYTES);
    return new RoomCipher(toHex(new Uint8Array(bits)), subtle, key, room);
  }

  /** `track`: `{participant}/{instance}/{track}`. */
  track(track: string): TrackCipher {
    const key = this.#subtle.deriveKey(
      derivation(this.#room, `track ${track}`),
      this.#secret,
      { name: 'AES-GCM', length: 128 },
      false,
      ['encrypt', 'decrypt'],
    );
    return new TrackCipher(this.#subtle, key);
  }
}

/** Encrypts and decrypts frames in their wire format. */
export class TrackCipher {
  readonly #subtle: SubtleCrypto;
  readonly #key: Promise<CryptoKey>;

  constructor(subtle: SubtleCrypto, key: Promise<CryptoKey>) {
    this.#subtle = subtle;
    this.#key = key;
  }

  async encrypt(
    group: number,
    index: number,
    frame: Uint8Array<ArrayBuffer>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { time, payload } = split(frame);
    const encrypted = await this.#subtle.encrypt(parameters(group, index, time), await this.#key, payload);
    return joinFrame(time, new Uint8Array(encrypted));
  }

  /** `undefined` for frames that were not encrypted with this key for this place. Never throws. */
  async decrypt(
    group: number,
    index: number,
    frame: Uint8Array,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (decodeFrame(frame) === undefined) return undefined;
    const { time, payload } = split(frame.slice());
    if (payload.byteLength < TAG_BYTES) return undefined;
    try {
      const opened = await this.#subtle.decrypt(parameters(group, index, time), await this.#key, payload);
      return joinFrame(time, new Uint8Array(opened));
    } catch {
      return undefined;
    }
  }
}

function derivation(room: string, info: string): HkdfParams {
  return {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: text.encode(`parley ${room}`),
    info: text.encode(`parley media 1 ${info}`),
  };
}

function parameters(group: number, index: number, time: Uint8Array<ArrayBuffer>): AesGcmParams {
  const iv = new DataView(new ArrayBuffer(12));
  iv.setBigUint64(0, BigInt(group));
  iv.setUint32(8, index);
  return { name: 'AES-GCM', iv: iv.buffer, additionalData: time, tagLength: 8 * TAG_BYTES };
}

/** Splits a frame into its time, a QUIC variable-length integer whose first two bits give its length, and the rest. */
function split(frame: Uint8Array<ArrayBuffer>): {
  time: Uint8Array<ArrayBuffer>;
  payload: Uint8Array<ArrayBuffer>;
} {
  const length = 2 ** ((frame[0] ?? 0) >> 6);
  return { time: frame.subarray(0, length), payload: frame.subarray(length) };
}
