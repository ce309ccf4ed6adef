/** Markdown of tables and of schemas, for the pages that the generator writes. */
import { isObject, type Json, type JsonObject } from './json-schema.ts';

/** How a page writes a reference to another schema; by default as it is in the document. */
type Refer = (reference: string) => string;

export function fieldsTable(message: JsonObject, refer?: Refer): string {
  const fields = isObject(message.properties) ? Object.entries(message.properties) : [];
  const required = Array.isArray(message.required) ? message.required : [];
  return table(
    ['field', 'type', 'required', 'meaning'],
    fields.map(([field, schema]) => [
      code(field),
      typeOf(schema, refer),
      required.includes(field) ? 'yes' : 'no',
      isObject(schema) && typeof schema.description === 'string' ? schema.description : '',
    ]),
  );
}

/** A schema in a few words: `array of Member`, `integer from 1`, `"left" or "lost"`. */
export function typeOf(schema: Json, refer: Refer = (reference) => reference): string {
  if (!isObject(schema)) return '';
  if (typeof schema.$ref === 'string') return refer(schema.$ref);
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) return 'one of the codes below';
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((part: Json) => typeOf(part, refer)).join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? '', refer)}${bounds(schema)}`;
  if (schema.type === 'object' && isObject(schema.properties)) {
    const parts = Object.entries(schema.properties).map(
      ([name, part]) => `${code(name)} ${typeOf(part, refer)}`,
    );
    return `{ ${parts.join(', ')} }`;
  }
  return `${scalar(schema.type)}${bounds(schema)}`;
}

function bounds(schema: JsonObject): string {
  const low = schema.minimum ?? schema.minLength;
  const high = schema.maximum ?? schema.maxLength ?? schema.maxItems;
  const unit = schema.type === 'string' ? ' characters' : schema.type === 'array' ? ' items' : '';
  const text = [
    low === undefined ? '' : ` from ${scalar(low)}`,
    high === undefined ? '' : ` up to ${scalar(high)}`,
    low === undefined && high === undefined ? '' : unit,
    typeof schema.pattern === 'string' ? `, matches ${code(schema.pattern)}` : '',
  ];
  return text.join('');
}

const scalar = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');
export const code = (text: string): string => `\`${text}\``;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
