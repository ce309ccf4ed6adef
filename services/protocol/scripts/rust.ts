/**
 * The contract in Rust: `rust/src/generated/`, a module for each family, and the tables of codes, limits, subjects and routes. The types of
 * bounds and patterns are in `rust/src/bounded.rs`, which is not generated.
 */
import { FAMILIES, RUST_FAMILIES, SHARED } from './families.ts';
import { isObject, plain, References, type Json, type JsonObject } from './json-schema.ts';
import { HEADER, fieldName, grouped, pascal } from './rust-names.ts';
import { tableFiles } from './rust-tables.ts';

/** The description of a field becomes its documentation; a field without one has a name that is sufficient. */
/** A welcome is larger than any other message, and a box would be in the way of every reader. */
const SIZES = '#[allow(clippy::large_enum_variant, reason = "a message is read and handled one at a time")]';
const ALLOWS = `#![allow(missing_docs, reason = "the schemas do not describe every field")]\n`;
const DERIVES = '#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]';
const REFERENCE = '#/$defs/';

/** All files of `rust/src/generated/`, by name. `subjects`: by the name of their export. */
export function rustFiles(subjects: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const shared = new Set<string>();
  const files = new Map<string, string>();
  for (const name of RUST_FAMILIES) files.set(`${name}.rs`, family(name, shared));
  files.set('shared.rs', sharedTypes(shared));
  for (const [file, text] of tableFiles(subjects)) files.set(file, text);
  files.set('mod.rs', modules([...files.keys()]));
  return files;
}

function modules(files: readonly string[]): string {
  const names = files.map((file) => file.replace('.rs', '')).toSorted();
  return `${HEADER}\n${names.map((name) => `pub mod ${name};\n`).join('')}`;
}

/** The types of one module, in order of their first use. */
class Module {
  readonly #types: string[] = [];
  readonly #names = new Set<string>();
  /** Shared types that the module uses. */
  readonly uses = new Set<string>();
  readonly bounds = new Set<string>();

  add(name: string, text: string): void {
    if (this.#names.has(name)) throw new Error(`two Rust types ${name} in one module`);
    this.#names.add(name);
    this.#types.push(text);
  }

  text(): string {
    return this.#types.join('\n');
  }

  /** The type of a value. `name`: the name of a new type, if the value needs one. */
  type(schema: Json | undefined, name: string): string {
    if (!isObject(schema)) throw new Error(`${name} has no schema`);
    if (typeof schema.$ref === 'string') {
      const shared = schema.$ref.slice(REFERENCE.length);
      this.uses.add(shared);
      return shared;
    }
    if (Array.isArray(schema.anyOf)) return this.#union(schema.anyOf as readonly Json[], name);
    if (schema.const !== undefined) return this.#constant(schema.const, name);
    switch (schema.type) {
      case 'boolean':
        return 'bool';
      case 'string':
        return this.#string(schema, name);
      case 'integer':
        return this.#integer(schema);
      case 'array':
        return this.#array(schema, name);
      case 'object':
        this.struct(schema, name);
        return name;
      default:
        throw new Error(`${name}: there is no Rust type for ${JSON.stringify(schema)}`);
    }
  }

  /** A struct of the fields of `schema`; of a tagged one without the tag, which is the name of the variant. */
  struct(schema: JsonObject, name: string, tagged = false): void {
    const fields = fieldsOf(schema, tagged).map(([field, part]) => this.#field(field, part, name, schema));
    this.add(
      name,
      `${documentation(schema)}${DERIVES}\n#[serde(rename_all = "camelCase")]\npub struct ${name} {\n${fields.join('')}}\n`,
    );
  }

  #field(field: string, schema: Json, owner: string, parent: JsonObject): string {
    const required = Array.isArray(parent.required) && parent.required.includes(field);
    const nullable = isNullable(schema);
    const type = this.type(schema, owner + pascal(field));
    const attributes = required
      ? nullable && ['deserialize_with = "Option::deserialize"']
      : [
          'default',
          'skip_serializing_if = "Option::is_none"',
          'deserialize_with = "crate::bounded::present"',
        ];
    if (!required && nullable) throw new Error(`${owner}.${field} is optional and nullable`);
    const serde = attributes ? `    #[serde(${attributes.join(', ')})]\n` : '';
    const rust = required ? type : `Option<${type}>`;
    return `${documentation(schema, '    ')}${serde}    pub ${fieldName(field)}: ${rust},\n`;
  }

  #string({ pattern, minLength = 0, maxLength }: JsonObject, name: string): string {
    if (pattern !== undefined) throw new Error(`${name} has a pattern: name it in SHARED`);
    if (maxLength === undefined && minLength === 0) return 'String';
    return this.#bounded('Text', minLength, maxLength);
  }

  #integer({ minimum, maximum }: JsonObject): string {
    if (maximum !== undefined) return this.#bounded('Whole', minimum ?? 0, maximum);
    if (minimum === undefined) return 'i64';
    if (minimum === 0) return 'u64';
    if (minimum !== 1)
      throw new Error(`there is no Rust type for an integer from ${JSON.stringify(minimum)}`);
    this.bounds.add('NonZeroU64');
    return 'NonZeroU64';
  }

  #array({ items, minItems = 0, maxItems }: JsonObject, name: string): string {
    if (isObject(items) && items.type === 'object')
      throw new Error(`${name} holds objects: name them in SHARED`);
    const item = this.type(items, `${name}Item`);
    if (maxItems === undefined && minItems === 0) return `Vec<${item}>`;
    return this.#bounded(`List`, minItems, maxItems, `${item}, `);
  }

  #bounded(kind: string, min: Json | undefined, max: Json | undefined, of = ''): string {
    if (typeof min !== 'number' || typeof max !== 'number') throw new Error(`${kind}: a bound is missing`);
    this.bounds.add(kind);
    return `${kind}<${of}${grouped(min)}, ${grouped(max)}>`;
  }

  #union(parts: readonly Json[], name: string): string {
    const rest = parts.filter((part) => !(isObject(part) && part.type === 'null'));
    if (rest.length < parts.length) return `Option<${this.type(rest[0], name)}>`;
    this.add(name, stringEnum(parts.map(constant), name));
    return name;
  }

  #constant(value: Json, name: string): string {
    if (typeof value === 'number') return this.#bounded('Whole', value, value);
    this.add(name, stringEnum([constant({ const: value })], name));
    return name;
  }
}

const isNullable = (schema: Json): boolean =>
  isObject(schema) &&
  Array.isArray(schema.anyOf) &&
  schema.anyOf.some((part: Json) => isObject(part) && part.type === 'null');

function constant(part: Json): string {
  if (!isObject(part) || typeof part.const !== 'string')
    throw new Error('a union is of strings, or with null');
  return part.const;
}

/** An enumeration of constant strings, one or several. */
function stringEnum(values: readonly string[], name: string): string {
  const variants = values.map((value) => `    #[serde(rename = "${value}")]\n    ${pascal(value)},\n`);
  return `#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]\npub enum ${name} {\n${variants.join('')}}\n`;
}

function fieldsOf(schema: JsonObject, tagged: boolean): [string, Json][] {
  const fields = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return tagged ? fields.filter(([field]) => field !== 'type') : fields;
}

function documentation(schema: Json, indent = ''): string {
  const text = isObject(schema) && typeof schema.description === 'string' ? schema.description : '';
  return text === '' ? '' : `${indent}/// ${text}\n`;
}

/** Messages are the variants of one enum; each body and each claims object is a type without an enum. */
function family(name: (typeof RUST_FAMILIES)[number], shared: Set<string>): string {
  const { title, about, messages, newer = false } = { newer: undefined, ...FAMILIES[name] };
  const module = new Module();
  const references = new References(SHARED, REFERENCE);
  const variants: string[] = [];
  for (const [message, source] of Object.entries(messages)) {
    const schema = references.inside(plain(source));
    if (!isObject(schema)) continue;
    const isTagged =
      isObject(schema.properties) &&
      isObject(schema.properties.type) &&
      schema.properties.type.const === message;
    const type = pascal(message);
    // A shared body is among the shared types.
    if (!isTagged && Object.hasOwn(SHARED, message)) continue;
    const isEmpty = isTagged && fieldsOf(schema, true).length === 0;
    if (!isEmpty) module.struct(schema, type, isTagged);
    if (isTagged)
      variants.push(`    #[serde(rename = "${message}")]\n    ${type}${isEmpty ? '' : `(${type})`},\n`);
  }
  if (newer) variants.push('    /// A message of a newer service.\n    #[serde(other)]\n    Unknown,\n');
  const enumeration =
    variants.length === 0
      ? ''
      : `/// ${about}\n${DERIVES}\n${SIZES}\n#[serde(tag = "type")]\npub enum Message {\n${variants.join('')}}\n\n`;
  for (const use of module.uses) shared.add(use);
  return `${HEADER}//!\n//! ${title}: ${about}\n${ALLOWS}\n${imports(module, 'super::shared')}\n${enumeration}${module.text()}`;
}

function imports(module: Module, shared: string): string {
  const bounds = [...module.bounds].filter((name) => name !== 'NonZeroU64').toSorted();
  return [
    ...(module.uses.size > 0 && shared !== ''
      ? [`use ${shared}::${braces([...module.uses].toSorted())};`]
      : []),
    ...(bounds.length > 0 ? [`use crate::bounded::${braces(bounds)};`] : []),
    'use serde::{Deserialize, Serialize};',
    ...(module.bounds.has('NonZeroU64') ? ['use std::num::NonZeroU64;'] : []),
    '',
  ].join('\n');
}

const braces = (names: readonly string[]): string =>
  names.length === 1 ? `${names[0]}` : `{${names.join(', ')}}`;

/** The shared types that any module uses, and those that they use. */
function sharedTypes(used: Set<string>): string {
  const module = new Module();
  const references = new References(SHARED, REFERENCE);
  // The set grows during the iteration: a type may use further ones.
  for (const name of used) {
    const schema = references.inside(plain(SHARED[name] ?? {}));
    if (!isObject(schema)) continue;
    const { pattern, maxLength, type } = schema;
    if (typeof pattern === 'string') {
      const max = typeof maxLength === 'number' ? grouped(maxLength) : 'usize::MAX';
      module.add(name, `pattern!(\n${documentation(schema, '    ')}    ${name}, r"${pattern}", ${max}\n);\n`);
    } else if (type === 'object') module.struct(schema, name);
    else if (Array.isArray(schema.anyOf)) module.type(schema, name);
    else module.add(name, `${documentation(schema)}pub type ${name} = ${module.type(schema, name)};\n`);
    for (const use of module.uses) used.add(use);
  }
  return `${HEADER}//!\n//! Types that several messages use.\n${ALLOWS}\n${imports(module, '')}\n${module.text()}`;
}
