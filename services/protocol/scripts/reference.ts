/** `reference.md`: the messages, codes and limits as tables for readers. */
import type { TSchema } from 'typebox';
import { CODES, codeNames } from '../src/codes.ts';
import { ROUTES, type Route } from '../src/http.ts';
import { LIMITS, limitKey, limitNames } from '../src/limits.ts';
import { FAMILIES, HTTP_BODIES, SHARED, type Family } from './families.ts';
import { isObject, plain, References, type Json, type JsonObject } from './json-schema.ts';

export function reference(subjects: Readonly<Record<string, string>>): string {
  return `${[
    '# Reference',
    'Generated from `services/protocol/src` by `npm run generate -w services/protocol`. The rules are in `SPEC.md`.',
    ...Object.values(FAMILIES).flatMap(familyTables),
    '## Shared types',
    ...Object.entries(SHARED).map(([name, schema]) => sharedType(name, plain(schema))),
    '## Routes',
    'Key: whether the request needs the owner key. Refusals and parameters: `openapi.json`.',
    routesTable(),
    '## Codes',
    'HTTP: the status of an answer of `/v1`. Close: the WebSocket close code; without one the socket stays open. Retry: the same request may succeed later.',
    codesTable(),
    '## Limits',
    'Key: in the environment of a signaling pod. Code: the code that a caller over the limit gets.',
    limitsTable(),
    '## Subjects',
    table(
      ['name', 'NATS subject or bucket'],
      Object.entries(subjects).map(([name, subject]) => [name, code(subject)]),
    ),
  ].join('\n\n')}\n`;
}

function familyTables(family: Family): string[] {
  return [
    `## ${family.title}`,
    family.about,
    ...Object.entries(family.messages).flatMap(([name, schema]) => {
      const message = new References(SHARED, '').inside(plain(schema));
      return [`### ${name}`, isObject(message) ? fieldsTable(message) : ''];
    }),
  ];
}

function sharedType(name: string, schema: JsonObject): string {
  const inside = new References(SHARED, '').inside(schema);
  if (!isObject(inside)) return `### ${name}`;
  const about = typeof inside.description === 'string' ? `\n\n${inside.description}` : '';
  const body = isObject(inside.properties) ? fieldsTable(inside) : typeOf(inside);
  return `### ${name}${about}\n\n${body}`;
}

function fieldsTable(message: JsonObject): string {
  const fields = isObject(message.properties) ? Object.entries(message.properties) : [];
  const required = Array.isArray(message.required) ? message.required : [];
  return table(
    ['field', 'type', 'required', 'meaning'],
    fields.map(([field, schema]) => [
      code(field),
      typeOf(schema),
      required.includes(field) ? 'yes' : 'no',
      isObject(schema) && typeof schema.description === 'string' ? schema.description : '',
    ]),
  );
}

/** A schema in a few words: `array of Member`, `integer from 1`, `"left" or "lost"`. */
function typeOf(schema: Json): string {
  if (!isObject(schema)) return '';
  if (typeof schema.$ref === 'string') return schema.$ref;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) return 'one of the codes below';
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map((part: Json) => typeOf(part)).join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? '')}${bounds(schema)}`;
  if (schema.type === 'object' && isObject(schema.properties)) {
    const parts = Object.entries(schema.properties).map(([name, part]) => `${code(name)} ${typeOf(part)}`);
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

function routesTable(): string {
  const names = new Map(Object.entries(HTTP_BODIES).map(([name, schema]) => [schema as TSchema, name]));
  const nameOf = (schema: TSchema | null): string => (schema === null ? '' : (names.get(schema) ?? ''));
  const rows = (Object.values(ROUTES) as Route[]).map(({ method, path, summary, body, answer, owner }) => [
    code(`${method} ${path}`),
    summary,
    owner ? 'yes' : '',
    nameOf(body),
    `${answer.status} ${nameOf(answer.schema)}`.trim(),
  ]);
  return table(['route', 'summary', 'key', 'body', 'answer'], rows);
}

function codesTable(): string {
  const rows = codeNames().map((name) => {
    const { http, close, retry, meaning } = CODES[name];
    return [code(name), String(http ?? ''), String(close ?? ''), retry ? 'yes' : 'no', meaning];
  });
  return table(['code', 'HTTP', 'close', 'retry', 'meaning'], rows);
}

function limitsTable(): string {
  const rows = limitNames().map((name) => {
    const { value, min, max, unit, code: refused, rationale } = LIMITS[name];
    const range = `${min} to ${max}`;
    return [
      code(name),
      `${value}`,
      range,
      unit,
      code(limitKey(name)),
      refused === null ? '' : code(refused),
      rationale,
    ];
  });
  return table(['limit', 'default', 'range', 'unit', 'key', 'code', 'rationale'], rows);
}

const scalar = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');
const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
