/** Turns the schemas in `src/` into plain JSON Schema documents (draft 2020-12) with named definitions. */
import type { TSchema } from 'typebox';
import type { Family } from './families.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const plain = (schema: TSchema): JsonObject => JSON.parse(JSON.stringify(schema)) as JsonObject;

/** Replaces shared schemas inside others by `$ref`, and records which were used. */
export class References {
  readonly #names = new Map<string, string>();
  readonly #shared: Readonly<Record<string, TSchema>>;
  readonly #prefix: string;
  readonly #used = new Set<string>();

  /** `prefix` is the place of the definitions: `#/$defs/` or `#/components/schemas/`. */
  constructor(shared: Readonly<Record<string, TSchema>>, prefix: string) {
    this.#shared = shared;
    this.#prefix = prefix;
    // By content and not by identity: an optional use of a schema is a copy of it.
    for (const [name, schema] of Object.entries(shared)) this.#names.set(JSON.stringify(plain(schema)), name);
  }

  to(name: string): JsonObject {
    this.#used.add(name);
    return { $ref: this.#prefix + name };
  }

  /** The schema where it is used: a reference if it is shared. */
  use(schema: Json): Json {
    const name = this.#names.get(JSON.stringify(schema));
    return name === undefined ? this.inside(schema) : this.to(name);
  }

  /** The schema where it is defined: its parts are references if they are shared. */
  inside(schema: Json): Json {
    if (Array.isArray(schema)) return schema.map((part: Json) => this.use(part));
    if (!isObject(schema)) return schema;
    // `$id` would change what `#` means inside the document.
    return Object.fromEntries(
      Object.entries(schema)
        .filter(([key]) => key !== '$id')
        .map(([key, part]) => [key, this.use(part)]),
    );
  }

  /** All shared schemas with a reference, and those that they refer to. */
  definitions(): JsonObject {
    const done: Record<string, Json> = {};
    // The set grows during the iteration: a definition may refer to further ones.
    for (const name of this.#used) {
      const schema = this.#shared[name];
      if (schema !== undefined) done[name] = this.inside(plain(schema));
    }
    return Object.fromEntries(Object.entries(done).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** One document for a family: a definition per message, and a value is valid if it matches one of them. */
export function familyDocument(family: Family, shared: Readonly<Record<string, TSchema>>): JsonObject {
  const references = new References(shared, '#/$defs/');
  const messages = Object.fromEntries(
    Object.entries(family.messages).map(([name, schema]) => [name, references.inside(plain(schema))]),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: family.title,
    description: family.about,
    anyOf: Object.keys(messages).map((name) => ({ $ref: `#/$defs/${name}` })),
    $defs: { ...messages, ...references.definitions() },
  };
}
