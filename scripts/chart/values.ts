/**
 * Reads charts/parley/values.yaml as its readers do: every value with the sentences above it. It knows the little of YAML that
 * this file uses: two spaces a level, values on one line, or objects and lists that carry a description as a whole.
 */
import { readFileSync } from 'node:fs';

export interface Value {
  /** As in templates: `relay.media.port`. */
  readonly path: string;
  readonly description: string;
  /** As it is written, on one line. */
  readonly fallback: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'array' | 'object';
  /** What its `@schema` line says: keywords of JSON Schema, or the name of a shape that several values have. */
  readonly shape: string | Readonly<Record<string, unknown>> | undefined;
}

/** The prefix of a description. A comment above a section has none and is for readers of the file only. */
const DESCRIPTION = /^ *# -- (?<text>.+)$/;
/** `# @schema port`, or `# @schema {"enum": ["open", "off"]}`. */
const SHAPE = /^ *# @schema (?<shape>.+)$/;
const KEY = /^(?<indent> *)(?<key>[\w-]+):(?: (?<value>.+))?$/;

export const VALUES_FILE = 'charts/parley/values.yaml';

export function readValues(text: string = readFileSync(VALUES_FILE, 'utf8')): Value[] {
  const values: Value[] = [];
  const sections: string[] = [];
  const lines = text.split('\n');
  let notes: Notes = NONE;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (/^ *#/.test(line)) notes = noted(notes, line);
    else if (line.trim() === '') notes = NONE;
    else {
      const found = KEY.exec(line)?.groups;
      if (!found) throw new Error(`${VALUES_FILE}:${at + 1}: not understood: ${line}`);
      const { indent = '', key = '', value } = found;
      sections.length = indent.length / 2;
      const path = [...sections, key].join('.');
      if (value === undefined && notes.sentences.length === 0) sections.push(key);
      else {
        if (notes.sentences.length === 0)
          throw new Error(`${VALUES_FILE}:${at + 1}: ${path} has no description`);
        const below = value === undefined ? linesBelow(lines, at, indent.length) : [];
        at += below.length;
        const fallback = value ?? below.map((text) => text.trim()).join('; ');
        const description = notes.sentences.join(' ');
        values.push({ path, description, fallback, type: typeOf(fallback, below), shape: notes.shape });
      }
      notes = NONE;
    }
  }
  return values;
}

/** What the comment above a value says. */
interface Notes {
  readonly sentences: readonly string[];
  readonly shape: Value['shape'];
}

const NONE: Notes = { sentences: [], shape: undefined };

function noted(before: Notes, comment: string): Notes {
  const begun = DESCRIPTION.exec(comment)?.groups?.['text'];
  if (begun !== undefined) return { ...NONE, sentences: [begun] };
  if (before.sentences.length === 0) return before;
  const shape = SHAPE.exec(comment)?.groups?.['shape'];
  if (shape !== undefined) return { ...before, shape: shapeOf(shape) };
  return { ...before, sentences: [...before.sentences, comment.replace(/^ *# ?/, '')] };
}

function shapeOf(text: string): Value['shape'] {
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : text;
}

function linesBelow(lines: readonly string[], at: number, indent: number): string[] {
  const deeper = new RegExp(`^ {${indent + 1},}\\S`);
  const end = lines.findIndex((line, index) => index > at && !deeper.test(line));
  return lines.slice(at + 1, end);
}

function typeOf(fallback: string, below: readonly string[]): Value['type'] {
  if (below[0]?.trimStart().startsWith('- ') === true || fallback.startsWith('[')) return 'array';
  if (below.length > 0 || fallback.startsWith('{')) return 'object';
  if (fallback === 'true' || fallback === 'false') return 'boolean';
  return /^\d+$/.test(fallback) ? 'integer' : 'string';
}
