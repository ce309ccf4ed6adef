/** Decodes untrusted text into typed messages, once, at the edge. Never throws. */
import { Type, type Static, type TSchema } from 'typebox';
import { BUS_MESSAGES, type BusMessage } from './bus.ts';
import { CLIENT_MESSAGES, type ClientMessage } from './client-messages.ts';
import { HOME_ANSWERS, HOME_REQUESTS, type HomeAnswer, type HomeRequest } from './home.ts';
import { PAGE_BUS_MESSAGES, type PageBusMessage } from './pages-bus.ts';
import { LINK_MESSAGES, PEER_MESSAGES, type LinkMessage, type PeerMessage } from './pages-peer.ts';
import { VISIT_MESSAGES, VISITOR_MESSAGES, type VisitMessage, type VisitorMessage } from './pages.ts';
import { SERVER_MESSAGES, type ServerMessage } from './server-messages.ts';
// Imported by its package name: browsers get the validator that generates no code (package.json, exports).
import { createChecker, type Checker } from '@parley/protocol/validator';

export type Decoded<Message> =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly code: 'BAD_MESSAGE' | 'UNKNOWN_TYPE'; readonly reason: string };

const checkers = new WeakMap<TSchema, Checker>();

/** The checker of a schema, created at its first use. */
function checker(schema: TSchema): Checker {
  let found = checkers.get(schema);
  if (found === undefined) {
    found = createChecker(schema);
    checkers.set(schema, found);
  }
  return found;
}

/** Returns the value with the fields of the schema only (GEN-2), or the reason why it does not match. */
export function decode<Schema extends TSchema>(schema: Schema, value: unknown): Decoded<Static<Schema>> {
  const check = checker(schema);
  if (check.isValid(value)) return { ok: true, message: knownFields(schema, value) as Static<Schema> };
  const first = check.firstError(value);
  return badMessage(
    first === undefined ? 'not of its type' : `${first.instancePath || 'message'} ${first.message}`,
  );
}

/** The fields that the schema knows, from a value that it accepts: fields of a newer version, or of an attacker, are never passed on. */
function knownFields(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Type.IsUnion(schema)) {
    const branch = schema.anyOf.find((part) => checker(part).isValid(value));
    return branch === undefined ? value : knownFields(branch, value);
  }
  if (Type.IsArray(schema)) {
    return Array.isArray(value) ? value.map((item: unknown) => knownFields(schema.items, item)) : value;
  }
  if (Type.IsRecord(schema)) {
    const [part] = Object.values<TSchema>(schema.patternProperties);
    if (part === undefined) return value;
    // Not by assignment: `__proto__` may be one of the names.
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, knownFields(part, field)]));
  }
  if (!Type.IsObject(schema)) return value;
  const kept: Record<string, unknown> = {};
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in schema.properties) {
    const part = schema.properties[name];
    if (part !== undefined && Object.hasOwn(fields, name)) kept[name] = knownFields(part, fields[name]);
  }
  return kept;
}

function badMessage(reason: string): Decoded<never> {
  return { ok: false, code: 'BAD_MESSAGE', reason };
}

function decoder<Message>(table: Readonly<Record<string, TSchema>>): (text: string) => Decoded<Message> {
  const schemas = new Map(Object.entries(table));
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return badMessage('not JSON');
    }
    if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string') {
      return badMessage('no type');
    }
    const schema = schemas.get(value.type);
    if (schema === undefined) return { ok: false, code: 'UNKNOWN_TYPE', reason: 'unknown type' };
    return decode(schema, value) as Decoded<Message>;
  };
}

// Marked as pure, so that the bundle of a browser has the messages that it decodes, and not those of pods.
export const decodeClientMessage: (text: string) => Decoded<ClientMessage> =
  /* @__PURE__ */ decoder(CLIENT_MESSAGES);
export const decodeServerMessage: (text: string) => Decoded<ServerMessage> =
  /* @__PURE__ */ decoder(SERVER_MESSAGES);
export const decodeBusMessage: (text: string) => Decoded<BusMessage> = /* @__PURE__ */ decoder(BUS_MESSAGES);
export const decodeHomeRequest: (text: string) => Decoded<HomeRequest> =
  /* @__PURE__ */ decoder(HOME_REQUESTS);
export const decodeHomeAnswer: (text: string) => Decoded<HomeAnswer> = /* @__PURE__ */ decoder(HOME_ANSWERS);
export const decodeVisitorMessage: (text: string) => Decoded<VisitorMessage> =
  /* @__PURE__ */ decoder(VISITOR_MESSAGES);
export const decodeVisitMessage: (text: string) => Decoded<VisitMessage> =
  /* @__PURE__ */ decoder(VISIT_MESSAGES);
export const decodePageBusMessage: (text: string) => Decoded<PageBusMessage> =
  /* @__PURE__ */ decoder(PAGE_BUS_MESSAGES);
export const decodeLinkMessage: (text: string) => Decoded<LinkMessage> =
  /* @__PURE__ */ decoder(LINK_MESSAGES);
export const decodePeerMessage: (text: string) => Decoded<PeerMessage> =
  /* @__PURE__ */ decoder(PEER_MESSAGES);
