/** Reads `fixtures/`: one message per file, `{type}.{rule}.json`, under `{family}/valid` and `{family}/invalid`. */
import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../fixtures/', import.meta.url);

export interface Fixture {
  /** `client/invalid/enter.no-ticket` */
  readonly name: string;
  readonly type: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** The fixtures of a folder, by name. */
export function fixtures(folder: string): Fixture[] {
  return readdirSync(new URL(`${folder}/`, ROOT))
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => ({
      name: `${folder}/${file.slice(0, -'.json'.length)}`,
      type: file.split('.')[0] ?? '',
      content: JSON.parse(readFileSync(new URL(`${folder}/${file}`, ROOT), 'utf8')) as Record<
        string,
        unknown
      >,
    }));
}

/** What is on the wire: `text` where the fixture is no JSON, otherwise its message. */
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
