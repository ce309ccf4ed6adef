/** From bytes or text of a stranger to a typed message, once, at the edge. Never throws. */
import { Type, type Static, type TSchema } from 'typebox';
import { BUS_MESSAGES, type BusMessage } from './bus.ts';
import { CLIENT_MESSAGES, type ClientMessage } from './client-messages.ts';
import { PAGE_BUS_MESSAGES, type PageBusMessage } from './pages-bus.ts';
import { LINK_MESSAGES, PEER_MESSAGES, type LinkMessage, type PeerMessage } from './pages-peer.ts';
import { VISIT_MESSAGES, VISITOR_MESSAGES, type VisitMessage, type VisitorMessage } from './pages.ts';
import { SERVER_MESSAGES, type ServerMessage } from './server-messages.ts';
// By its package name: browsers get the one that makes no code (package.json, exports).
import { createChecker, type Checker } from '@parley/protocol/validator';

export type Decoded<Message> =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly code: 'BAD_MESSAGE' | 'UNKNOWN_TYPE'; readonly why: string };

const checkers = new WeakMap<TSchema, Checker>();

/** A schema's checker is made at its first use and kept. */
function checker(schema: TSchema): Checker {
  let found = checkers.get(schema);
  if (found === undefined) {
    found = createChecker(schema);
    checkers.set(schema, found);
  }
  return found;
}

/** The value as the schema's type with nothing else in it (GEN-2), or why it is not. */
export function decode<Schema extends TSchema>(schema: Schema, value: unknown): Decoded<Static<Schema>> {
  const check = checker(schema);
  if (check.isValid(value)) return { ok: true, message: known(schema, value) as Static<Schema> };
  const first = check.firstError(value);
  return bad(first === undefined ? 'not of its type' : `${first.instancePath || 'message'} ${first.message}`);
}

/** What the schema knows of a value that it accepts: a field of a newer version, or of a joker, is never passed on. */
function known(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Type.IsUnion(schema)) {
    const branch = schema.anyOf.find((part) => checker(part).isValid(value));
    return branch === undefined ? value : known(branch, value);
  }
  if (Type.IsArray(schema)) {
    return Array.isArray(value) ? value.map((item: unknown) => known(schema.items, item)) : value;
  }
  if (Type.IsRecord(schema)) {
    const [part] = Object.values<TSchema>(schema.patternProperties);
    if (part === undefined) return value;
    // Not by assignment: `__proto__` may be one of the names.
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, known(part, field)]));
  }
  if (!Type.IsObject(schema)) return value;
  const kept: Record<string, unknown> = {};
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in schema.properties) {
    const part = schema.properties[name];
    if (part !== undefined && Object.hasOwn(fields, name)) kept[name] = known(part, fields[name]);
  }
  return kept;
}

function bad(why: string): Decoded<never> {
  return { ok: false, code: 'BAD_MESSAGE', why };
}

function decoder<Message>(table: Readonly<Record<string, TSchema>>): (text: string) => Decoded<Message> {
  const schemas = new Map(Object.entries(table));
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return bad('not JSON');
    }
    if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string') {
      return bad('no type');
    }
    const schema = schemas.get(value.type);
    if (schema === undefined) return { ok: false, code: 'UNKNOWN_TYPE', why: 'unknown type' };
    return decode(schema, value) as Decoded<Message>;
  };
}

// Pure: a browser loads the messages that it decodes, and not those of pods.
export const decodeClientMessage: (text: string) => Decoded<ClientMessage> =
  /* @__PURE__ */ decoder(CLIENT_MESSAGES);
export const decodeServerMessage: (text: string) => Decoded<ServerMessage> =
  /* @__PURE__ */ decoder(SERVER_MESSAGES);
export const decodeBusMessage: (text: string) => Decoded<BusMessage> = /* @__PURE__ */ decoder(BUS_MESSAGES);
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
