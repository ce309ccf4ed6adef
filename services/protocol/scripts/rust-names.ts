/** Rust names from names on the wire, such as `goaway`, `GOAWAY`, `afterMs` and `page.chunkBytes`, and Rust numbers. */

/** The first lines of every generated module. */
export const HEADER =
  '//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.\n';

const KEYWORDS: ReadonlySet<string> = new Set([
  'as',
  'in',
  'match',
  'move',
  'ref',
  'self',
  'type',
  'use',
  'where',
]);

const words = (name: string): string[] =>
  (/^[A-Z0-9_]+$/.test(name)
    ? name.toLowerCase()
    : name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  )
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

export const pascal = (name: string): string =>
  words(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
export const snake = (name: string): string => words(name).join('_');
export const screaming = (name: string): string => snake(name).toUpperCase();
/** A keyword becomes a raw identifier, for which serde uses the plain name. */
export const fieldName = (name: string): string => (KEYWORDS.has(name) ? `r#${name}` : snake(name));

/** 65536 is 65_536. */
export const grouped = (number: number): string =>
  number < 10_000 ? String(number) : String(number).replaceAll(/\B(?=(\d{3})+$)/g, '_');
