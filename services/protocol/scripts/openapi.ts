/** The OpenAPI 3.1 page of `/v1`, made from the table of routes. */
import type { TSchema } from 'typebox';
import { MEANINGS } from '../src/code-meanings.ts';
import { CODES, passesByItself, type Code } from '../src/codes.ts';
import { Ban } from '../src/http.ts';
import { ROUTES, type Route } from '../src/routes.ts';
import { LiveName, ParticipantId, RoomId } from '../src/ids.ts';
import { HTTP_BODIES, SHARED } from './families.ts';
import { plain, References, type Json, type JsonObject } from './json-schema.ts';

const STATUS_NAMES: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 204: 'No Content' };
const PARAMETERS: Readonly<Record<string, TSchema>> = {
  room: RoomId,
  participant: ParticipantId,
  ban: Ban.properties.id,
  name: LiveName,
};

const ABOUT = [
  'Rooms of one Parley region. An answer other than success is an `ErrorAnswer`: `code` is for programs, `message` for people.',
  'A refusal whose cause passes by itself has `Retry-After` in seconds and `retryAfterMs` in the body.',
  'Both sides ignore fields that are not described here.',
].join('\n');

const SOCKET = [
  'The WebSocket of a room; the address is `socketUrl` in the answer of joinRoom. Browsers hide the status of a refused',
  'upgrade, so joinRoom decides before it whether a participant may enter, and codes on the open socket decide after it.',
  '',
  'The first message is `enter` with the ticket, or `resume` with the token of an earlier `welcome`, within the limit',
  '`socket.enterTimeout`. The pod answers `welcome` with the roster, or `error` and closes with the close code of that error',
  '(`codes.json`). Afterwards each side sends JSON text messages of `client-messages.schema.json` and',
  '`server-messages.schema.json`, and directed messages: one envelope line and an opaque payload, text or binary.',
  '',
  '    client to pod     >{participant} {id}\\n{payload}',
  '    pod to client     <{participant}\\n{payload}',
  '',
  'Messages are not compressed by the connection (no permessage-deflate).',
].join('\n');

export function openApi(version: string): JsonObject {
  const references = new References({ ...SHARED, ...HTTP_BODIES }, '#/components/schemas/');
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of Object.entries(ROUTES) as [string, Route][]) {
    const item = (paths[openPath(route.path)] ??= {});
    item[route.method.toLowerCase()] = operation(name, route, references);
  }
  paths['/v1/rooms/{room}/socket'] = { get: socketOperation(references) };
  return {
    openapi: '3.1.1',
    info: {
      title: 'Parley',
      version,
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The edge of a region.' }],
    paths,
    components: {
      schemas: references.definitions(),
      headers: {
        RetryAfter: {
          description: 'Seconds to wait before the same request; the caller adds jitter.',
          schema: { type: 'integer', minimum: 0 },
        },
      },
      securitySchemes: {
        ownerKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The owner key in the answer of createRoom, which is shown once, or the resume token of a co-owner, except for deleteRoom, makeCoOwner and removeCoOwner.',
        },
      },
    },
  };
}

/** `/v1/rooms/:room` in the syntax of OpenAPI. */
export const openPath = (path: string): string => path.replace(/:([a-zA-Z]+)/g, '{$1}');

function operation(name: string, route: Route, references: References): JsonObject {
  const { status, schema } = route.answer;
  return {
    operationId: name,
    summary: route.summary,
    security: route.owner ? [{ ownerKey: [] }] : [],
    ...parameters(route.path, references),
    ...(route.body === null
      ? {}
      : { requestBody: { required: hasRequiredFields(route.body), content: json(route.body, references) } }),
    responses: {
      [status]: {
        description: STATUS_NAMES[status] ?? 'Success',
        ...(schema === null ? {} : { content: json(schema, references) }),
      },
      ...Object.fromEntries(byStatus(route.codes).map(([at, codes]) => [at, refusal(codes, references)])),
      default: {
        description: `Any address may answer with other codes of \`codes.json\`, such as \`INTERNAL\`: ${MEANINGS.INTERNAL}`,
        content: { 'application/json': { schema: references.to('ErrorAnswer') } },
      },
    },
  };
}

function parameters(path: string, references: References): { parameters?: Json } {
  const names = [...path.matchAll(/:([a-zA-Z]+)/g)].map((match) => match[1] ?? '');
  if (names.length === 0) return {};
  return {
    parameters: names.map((name) => {
      const schema = PARAMETERS[name];
      if (schema === undefined) throw new Error(`no schema is known for the path parameter :${name}`);
      return { name, in: 'path', required: true, schema: references.use(plain(schema)) };
    }),
  };
}

/** A body whose fields are all optional is itself optional. */
function hasRequiredFields(body: TSchema): boolean {
  const { required } = plain(body);
  return Array.isArray(required) && required.length > 0;
}

const json = (schema: TSchema, references: References): JsonObject => ({
  'application/json': { schema: references.use(plain(schema)) },
});

/** The codes of a route by HTTP status, lowest first. */
export function byStatus(codes: readonly Code[]): [status: number, codes: Code[]][] {
  const found = new Map<number, Code[]>();
  for (const code of codes) {
    const { http } = CODES[code];
    if (http === null) throw new Error(`a route names ${code}, which has no HTTP status`);
    found.set(http, [...(found.get(http) ?? []), code]);
  }
  return [...found].toSorted(([a], [b]) => a - b);
}

function refusal(codes: readonly Code[], references: References): JsonObject {
  const retried = codes.filter(passesByItself);
  return {
    description: codes.map((code) => `\`${code}\`: ${MEANINGS[code]}`).join('\n\n'),
    ...(retried.length === 0
      ? {}
      : { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } }),
    content: {
      'application/json': {
        schema: { allOf: [references.to('ErrorAnswer'), { properties: { code: { enum: codes } } }] },
      },
    },
  };
}

function socketOperation(references: References): JsonObject {
  return {
    operationId: 'openSocket',
    summary: 'The WebSocket of a room',
    description: SOCKET,
    security: [],
    ...parameters('/:room', references),
    responses: { '101': { description: 'The connection is now a WebSocket.' } },
  };
}
