/** The key sets of regions, by which each signs with a private key of its own. SPEC rules KEY-2 and CHAT-8. */
import { randomBytes } from 'node:crypto';
import { readIfThere, writePrivate } from '@parley/local/files';
import { makeKeySet, once, secretFile, withoutPrivateParts } from '@parley/local/secrets';

export interface Keys<Region extends string> {
  /** Of the pods of each region: its private key, the public parts of the others, and the chat key of all. */
  readonly files: Readonly<Record<Region, string>>;
  /** Of relays: the public parts of all. */
  readonly publicFile: string;
}

interface KeySet {
  readonly active: string;
  readonly keys: readonly object[];
  readonly chat?: readonly object[];
}

const CHAT_KEY_BYTES = 32;

/** Each key is made once and kept under `<dir>/secrets`. */
export function ensureKeys<Region extends string>(dir: string, regions: readonly Region[]): Keys<Region> {
  const at = (name: string): string => secretFile(dir, name);
  const own = regions.map((region) => once(at(`signing-key-${region}.json`), makeKeySet));
  const parts = own.map((set) => JSON.parse(withoutPrivateParts(set)) as KeySet);
  const chat = [
    { kty: 'oct', k: once(at('chat-key'), () => randomBytes(CHAT_KEY_BYTES).toString('base64url')) },
  ];
  const write = (name: string, set: KeySet): string => {
    const text = JSON.stringify(set, null, 2);
    if (readIfThere(at(name)) !== text) writePrivate(at(name), text);
    return at(name);
  };
  const files = regions.map((region, index) => {
    const { active, keys } = JSON.parse(own[index] ?? '') as KeySet;
    const others = parts.filter((set) => set.active !== active).flatMap((set) => set.keys);
    return [region, write(`keys-${region}.json`, { active, keys: [...keys, ...others], chat })];
  });
  const [first] = parts;
  return {
    files: Object.fromEntries(files) as Record<Region, string>,
    publicFile: write('keys-public-all.json', {
      active: first?.active ?? '',
      keys: parts.flatMap(({ keys }) => keys),
    }),
  };
}
