/**
 * What a fuzz target is, and the generators that targets share. A package keeps its targets in `fuzz/*.fuzz.ts`, each file of which exports
 * `targets`; the corpus of a target is the folder `fuzz/corpus/{name}` beside it. An input is always the bytes as they come from the wire, so
 * a file of the corpus can be replayed against any decoder.
 */
import * as fc from 'fast-check';

export interface Target {
  /** Unique in its file; also the folder of its corpus. */
  readonly name: string;
  readonly inputs: fc.Arbitrary<Uint8Array>;
  /** Throws, or rejects, where a property does not hold. Answers whether the decoder took the input. */
  check(this: void, input: Uint8Array<ArrayBuffer>): boolean | Promise<boolean>;
  /** How long one input may take; `DEFAULT_MS` where it is not given. */
  readonly ms?: number;
  /** Inputs in a bounded run; `DEFAULT_RUNS` where it is not given. */
  readonly runs?: number;
  /** Releases what the checks opened. */
  close?(this: void): Promise<void>;
}

export const DEFAULT_RUNS = 2500;
/** The longest input of a target is some 100 KB, which every decoder reads in a few ms; the rest is for a busy machine. */
export const DEFAULT_MS = 200;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);
/** As a browser or `ws` would hand over a text message; invalid sequences become U+FFFD. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);

type Edit = (bytes: Uint8Array) => Uint8Array;

/** Numbers at the borders of what a field of 1, 2, 4 or 8 bytes holds. */
const BORDERS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/** One of the seeds with a few edits: bytes set, cut out, repeated or inserted, borders of integers, and the start of one seed with the end of another. */
export function nearly(
  seeds: readonly Uint8Array[],
  tokens: readonly string[] = [],
): fc.Arbitrary<Uint8Array> {
  const seed = fc.constantFrom(...seeds);
  const at = fc.nat();
  const place = (bytes: Uint8Array, at: number): number => at % (bytes.length + 1);
  const replace = (bytes: Uint8Array, from: number, to: number, by: Uint8Array): Uint8Array =>
    Uint8Array.from([...bytes.subarray(0, from), ...by, ...bytes.subarray(to)]);
  const inserted = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    ...(tokens.length === 0 ? [] : [fc.constantFrom(...tokens).map(utf8)]),
  );
  const border = fc.tuple(fc.constantFrom(...BORDERS), fc.constantFrom(1, 2, 4, 8)).map(([value, size]) => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
    return bytes.subarray(8 - size);
  });
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    fc.tuple(at, fc.integer({ min: 0, max: 255 })).map(([at, byte]): Edit => {
      return (bytes) => bytes.with(at % Math.max(1, bytes.length), byte);
    }),
    fc.tuple(at, fc.nat(7)).map(([at, bit]): Edit => {
      return (bytes) => {
        const index = at % Math.max(1, bytes.length);
        return bytes.with(index, (bytes[index] ?? 0) ^ (1 << bit));
      };
    }),
    fc.tuple(at, border).map(([at, by]): Edit => {
      return (bytes) => replace(bytes, place(bytes, at), place(bytes, at) + by.length, by);
    }),
    fc.tuple(at, inserted).map(([at, by]): Edit => {
      return (bytes) => replace(bytes, place(bytes, at), place(bytes, at), by);
    }),
    fc.tuple(at, fc.integer({ min: 1, max: 20 })).map(([at, size]): Edit => {
      return (bytes) => replace(bytes, place(bytes, at), place(bytes, at) + size, new Uint8Array());
    }),
    fc.tuple(at, at, fc.integer({ min: 1, max: 40 })).map(([from, to, size]): Edit => {
      return (bytes) => {
        const copied = bytes.subarray(place(bytes, from), place(bytes, from) + size);
        return replace(bytes, place(bytes, to), place(bytes, to), copied);
      };
    }),
    at.map(
      (at): Edit =>
        (bytes) =>
          bytes.subarray(0, place(bytes, at)),
    ),
    fc.tuple(seed, at, at).map(([other, from, to]): Edit => {
      return (bytes) => replace(bytes, place(bytes, to), bytes.length, other.subarray(place(other, from)));
    }),
  );
  const edits = fc.array(edit, { maxLength: 5 });
  return fc
    .tuple(seed, edits)
    .map(([seed, edits]) =>
      edits.reduce<Uint8Array>((bytes, edit) => (bytes.length === 0 ? bytes : edit(bytes)), seed),
    );
}

/** Replacements for a valid value in a JSON text: limits of numbers, other types, spellings that parsers read differently. */
const ODD_JSON = [
  'null',
  'true',
  '""',
  '[]',
  '{}',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e2',
  '1E400',
  '100.0',
  '2147483648',
  '4294967295',
  '4294967296',
  '9007199254740991',
  '9007199254740993',
  '18446744073709551616',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u202e"',
  '"é"',
  '"e\\u0301"',
  '"👋"',
  '"__proto__"',
  '"constructor"',
  '"\\n"',
  '{"__proto__":{"type":"leave"}}',
  '{"toString":1}',
  '[[[[[[[[]]]]]]]]',
] as const;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** In a JSON text: the field that `nearlyJson` adds and no schema knows. */
export const UNKNOWN_FIELD = /"extra":/;

/** A marker that no seed contains: what replaces it in the text need not be what `JSON.stringify` writes. */
const HOLE = '\u0001hole';

/** One of the messages with a few values replaced, fields added, doubled or left out, then perhaps broken as text. */
export function nearlyJson(seeds: readonly unknown[]): fc.Arbitrary<Uint8Array> {
  const odd = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<string>(...ODD_JSON) },
    { weight: 2, arbitrary: fc.json({ maxDepth: 2 }) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: 'binary', maxLength: 300 }).map((text) => JSON.stringify(text)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('a', '\\u0000', '👋', 'e\\u0301'), fc.nat(3000))
        .map(([one, times]) => `"${one.repeat(times)}"`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('null', '0', '{}'), fc.nat(600))
        .map(([one, times]) => `[${Array(times).fill(one).join(',')}]`),
    },
  );
  const change = fc.tuple(fc.nat(), fc.constantFrom('replace', 'replace', 'remove', 'add', 'double'), odd);
  const structured = fc
    .tuple(fc.constantFrom(...(seeds as Json[])), fc.array(change, { maxLength: 4 }))
    .map(([seed, changes]) => {
      let text = JSON.stringify(seed);
      for (const [at, how, by] of changes) text = changed(text, at, how, by);
      return utf8(text);
    });
  const texts = seeds.map((seed) => utf8(JSON.stringify(seed)));
  return fc.oneof(
    { weight: 4, arbitrary: structured },
    { weight: 2, arbitrary: nearly(texts, [...ODD_JSON, ',', ':', '{', '[', '"', '\\', '\ufeff', ' ']) },
    { weight: 1, arbitrary: fc.json().map(utf8) },
  );
}

/** Changes the value at a place of a JSON text; a text that is no JSON any more stays. */
function changed(text: string, at: number, how: string, by: string): string {
  let count = 0;
  try {
    JSON.parse(text, (_, value: unknown) => {
      count += 1;
      return value;
    });
  } catch {
    return text;
  }
  const wanted = at % count;
  let index = -1;
  const marked = JSON.stringify(
    JSON.parse(text, (_, value: Json) => {
      index += 1;
      if (index !== wanted) return value;
      if (how === 'remove') return undefined;
      if (how === 'double') return [value, value];
      if (how === 'add' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return { ...value, extra: HOLE };
      }
      return HOLE;
    }),
  );
  return marked === undefined ? by : marked.replace(JSON.stringify(HOLE), () => by);
}
