/** `reference.md`: the messages, codes and limits as tables for readers. */
import type { TSchema } from 'typebox';
import { codeNames } from '../src/codes.ts';
import { ROUTES, type Route } from '../src/routes.ts';
import { LIMITS, limitKey, limitNames } from '../src/limits.ts';
import { FAMILIES, HTTP_BODIES, SHARED, type Family } from './families.ts';
import { isObject, plain, References, type JsonObject } from './json-schema.ts';
import { code, fieldsTable, table, typeOf } from './markdown.ts';
import { DESCRIBED_CODES } from './described-codes.ts';

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
    const { http, close, retry, meaning } = DESCRIBED_CODES[name];
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
