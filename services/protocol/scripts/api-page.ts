/** `docs/api.md`: the OpenAPI document as a page for readers. It renders the parts of OpenAPI that `openapi.ts` writes. */
import { format } from 'prettier';
import { isObject, type Json, type JsonObject } from './json-schema.ts';
import { code, fieldsTable, table, typeOf } from './markdown.ts';

const HEAD = [
  '# HTTP API',
  'Generated from [openapi.json](../services/protocol/generated/openapi.json) by `npm run generate -w services/protocol`. The rules behind it are in',
  '[SPEC.md](../services/protocol/SPEC.md), all codes and limits in the [reference](../services/protocol/generated/reference.md).',
];

const EVERYWHERE =
  'Each endpoint may also answer with other codes of the reference, such as `INTERNAL`. The schema of every refusal is';

interface Operation {
  readonly title: string;
  readonly content: JsonObject;
}

/** `document` is the result of `openApi`. Throws for a part of OpenAPI that it cannot render. */
export function apiPage(document: JsonObject): Promise<string> {
  const operations = operationsOf(document);
  const schemas = object(object(document.components).schemas);
  const schemes = object(object(document.components).securitySchemes);
  const text = [
    HEAD.join('\n'),
    string(object(document.info).description),
    `${EVERYWHERE} ${link('#/components/schemas/ErrorAnswer')}.`,
    `An endpoint with a key requires it as \`Authorization: Bearer\`. The key: ${string(object(schemes.ownerKey).description)}`,
    table(
      ['endpoint', 'summary', 'key'],
      operations.map(({ title, content }) => [
        `[${code(title)}](#${anchor(title)})`,
        string(content.summary),
        needsKey(content) ? 'yes' : '',
      ]),
    ),
    '## Endpoints',
    ...operations.flatMap(operationSection),
    '## Types',
    ...Object.entries(schemas).map(([name, schema]) => typeSection(name, object(schema))),
  ].join('\n\n');
  return format(text, { parser: 'markdown', printWidth: 110 });
}

/** The fragment with which GitHub links to a heading. */
export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

function operationsOf({ paths }: JsonObject): Operation[] {
  return Object.entries(object(paths)).flatMap(([path, item]) =>
    Object.entries(object(item)).map(([method, content]) => ({
      title: `${method.toUpperCase()} ${path}`,
      content: object(content),
    })),
  );
}

const needsKey = ({ security }: JsonObject): boolean => Array.isArray(security) && security.length > 0;

function operationSection({ title, content }: Operation): string[] {
  const { operationId, summary, description, parameters, requestBody, responses } = content;
  return [
    `### ${title}`,
    `${code(string(operationId))}: ${string(summary)}.${needsKey(content) ? ' Requires the owner key.' : ''}`,
    ...(typeof description === 'string' ? [description] : []),
    ...(Array.isArray(parameters) ? [parametersTable(parameters.map(object))] : []),
    ...(requestBody === undefined ? [] : [bodyLine(object(requestBody))]),
    table(['status', 'answer', 'meaning', 'retry'], Object.entries(object(responses)).flatMap(answerRows)),
  ];
}

function parametersTable(parameters: readonly JsonObject[]): string {
  return table(
    ['parameter', 'in', 'type'],
    parameters.map(({ name, in: place, schema }) => [
      code(string(name)),
      string(place),
      typeOf(schema ?? '', link),
    ]),
  );
}

const bodyLine = ({ content, required }: JsonObject): string =>
  `Body: ${typeOf(schemaIn(content), link)}${required === true ? '' : ', optional'}.`;

/** A row for each code of a refusal. The answer `default` is the same for all endpoints: the page states it once. */
function answerRows([status, answer]: readonly [string, Json]): string[][] {
  if (status === 'default') return [];
  const { content, description, headers } = object(answer);
  const success = Number(status) < 400;
  const body = content === undefined || !success ? '' : typeOf(schemaIn(content), link);
  const retry = isObject(headers) ? '`Retry-After`' : '';
  return string(description)
    .split('\n\n')
    .map((meaning) => {
      const [named = '', sentence = ''] = meaning.split(/: (.*)/s);
      return success ? [status, body, meaning, ''] : [status, named, sentence, retry];
    });
}

function schemaIn(content: Json | undefined): Json {
  return object(object(content)['application/json']).schema ?? '';
}

function typeSection(name: string, schema: JsonObject): string {
  const about = typeof schema.description === 'string' ? [schema.description] : [];
  const body = isObject(schema.properties) ? fieldsTable(schema, link) : `Type: ${typeOf(schema, link)}.`;
  return [`### ${name}`, ...about, body].join('\n\n');
}

function link(reference: string): string {
  const name = reference.replace('#/components/schemas/', '');
  return `[${name}](#${anchor(name)})`;
}

function object(value: Json | undefined): JsonObject {
  if (!isObject(value))
    throw new Error(`an object is expected in the OpenAPI document, not ${JSON.stringify(value)}`);
  return value;
}

function string(value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error('a string is expected in the OpenAPI document');
  return value;
}
