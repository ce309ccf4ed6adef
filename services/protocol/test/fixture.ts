/** Reads `fixtures/{family}.json`: a table of valid and one of invalid cases, each named `{message}.{case}`. */
import { readFileSync } from 'node:fs';

const FIXTURES = new URL('../fixtures/', import.meta.url);
const NAME = /^ {4}"([^"]+)": \{$/gm;

type Content = Readonly<Record<string, unknown>>;
export type Validity = 'valid' | 'invalid';

export interface Fixture {
  /** `client/invalid/enter.no-ticket` */
  readonly name: string;
  /** The message: `enter`. */
  readonly type: string;
  readonly content: Content;
}

/** The cases of one family, in the order of the file. */
export function fixtures(family: string, validity: Validity): Fixture[] {
  const tables = JSON.parse(textOf(family)) as Record<Validity, Record<string, Content>>;
  return Object.entries(tables[validity]).map(([name, content]) => ({
    name: `${family}/${validity}/${name}`,
    type: name.split('.')[0] ?? '',
    content,
  }));
}

export function allFixtures(family: string): Fixture[] {
  return [...fixtures(family, 'valid'), ...fixtures(family, 'invalid')];
}

/** The number of names in the text of both tables: `JSON.parse` keeps only the last of several equal ones. */
export function namesInText(family: string): number {
  return [...textOf(family).matchAll(NAME)].length;
}

const textOf = (family: string): string => readFileSync(new URL(`${family}.json`, FIXTURES), 'utf8');

/** The text on the wire: `text` where the fixture is not JSON, otherwise its message. */
export function wireText(fixture: Fixture): string {
  const { text, message } = fixture.content;
  return typeof text === 'string' ? text : JSON.stringify(message);
}

/** The frame of a directed fixture as bytes: its text in UTF-8, or its base64. */
export function wireBytes(fixture: Fixture): Uint8Array {
  const { text, base64 } = fixture.content;
  if (typeof text === 'string') return new TextEncoder().encode(text);
  return Uint8Array.from(Buffer.from(String(base64), 'base64'));
}
