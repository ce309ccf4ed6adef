/**
 * Proofs of chat lines: an HMAC over a line, by which any pod recognises a line that a pod of the installation accepted. The keys are derived from
 * the private parts of the key set, so that a pod that can sign tokens can sign lines and needs no other secret; or, where regions have private keys of
 * their own, from the chat keys in it, which they share. SPEC rule CHAT-8.
 */
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import { decode } from '@parley/protocol/decode';
import type { RoomId } from '@parley/protocol/ids';
import type { ChatLine } from '@parley/protocol/people';
import { KeySet, sharedSecrets } from './key-set.ts';

export type Unproven = Omit<ChatLine, 'proof'>;

export interface ChatProofs {
  sign(room: RoomId, line: Unproven): string;
  verify(room: RoomId, line: Unproven, proof: string): boolean;
  /** As with `createChatProofs`, from now on. Throws, and changes nothing, where that would throw. SPEC rule KEY-8. */
  useKeys(set: unknown): void;
}

const PROOF_BYTES = 16;
const KEY_BYTES = 32;

/** Throws where the set is malformed or its active key has no private part: a pod must not start with it. */
export function createChatProofs(set: unknown): ChatProofs {
  let keys = keysOf(set);
  return {
    sign: (room, line) => proofOf(keys.own, room, line).toString('base64url'),
    verify(room, line, proof) {
      const given = Buffer.from(proof, 'base64url');
      if (given.length !== PROOF_BYTES) return false;
      // While a key is rotated there are two or three keys: trying each is cheaper than naming the key in every line.
      return keys.all.some((key) => timingSafeEqual(proofOf(key, room, line), given));
    },
    useKeys(next) {
      keys = keysOf(next);
    },
  };
}

function keysOf(set: unknown): { readonly own: KeyObject; readonly all: readonly KeyObject[] } {
  const decoded = decode(KeySet, set);
  if (!decoded.ok) throw new Error(`key set: ${decoded.reason}`);
  const all = sharedSecrets(decoded.message).map(derived);
  const [own] = all;
  if (own === undefined)
    throw new Error(`key set: the active key ${decoded.message.active} has no private part`);
  return { own, all };
}

/** RFC 5869. */
function derived(shared: string): KeyObject {
  const secret = Buffer.from(shared, 'base64url');
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, 'parley', 'parley chat proof 1', KEY_BYTES)));
}

/** A JSON list keeps the fields apart. */
function proofOf(key: KeyObject, room: RoomId, { id, from, name, text, at }: Unproven): Buffer {
  const signed = JSON.stringify([room, id, from, name, text, at]);
  return createHmac('sha256', key).update(signed).digest().subarray(0, PROOF_BYTES);
}
