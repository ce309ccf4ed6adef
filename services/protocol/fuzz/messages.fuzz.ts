/** Decodes every JSON message and body from untrusted text. */
import assert from 'node:assert/strict';
import type { TSchema } from 'typebox';
import { nearlyJson, textOf, UNKNOWN_FIELD, type Target } from '../../../scripts/fuzz/target.ts';
import { FAMILIES } from '../scripts/families.ts';
import {
  decode,
  decodeBusMessage,
  decodeClientMessage,
  decodeLinkMessage,
  decodePageBusMessage,
  decodePeerMessage,
  decodeServerMessage,
  decodeVisitMessage,
  decodeVisitorMessage,
  type Decoded,
} from '../src/decode.ts';
import { createChecker as compiled } from '../src/validator-compiled.ts';
import { createChecker as interpreted } from '../src/validator-interpreted.ts';
import { fixtures, type Fixture } from '../test/fixture.ts';

/** A refusal is logged and sent to the client. */
const MAX_REASON_CHARS = 200;

type Read = (text: string) => Decoded<unknown>;

const TYPED: Readonly<Record<string, Read>> = {
  client: decodeClientMessage,
  server: decodeServerMessage,
  bus: decodeBusMessage,
  visitor: decodeVisitorMessage,
  visit: decodeVisitMessage,
  pages: decodePageBusMessage,
  link: decodeLinkMessage,
  peer: decodePeerMessage,
};
const UNTYPED = ['http', 'tokens', 'media', 'turn', 'manifest'] as const;

const messagesOf = (family: string): unknown[] =>
  (['valid', 'valid', 'valid', 'invalid'] as const)
    .flatMap((validity) => fixtures(family, validity))
    .filter(({ content }: Fixture) => 'message' in content)
    .map(({ content }) => content['message']);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A decoded message is decoded again as itself and is no larger than the text, and both validators agree on it. */
function checkDecoded(
  text: string,
  decoded: Decoded<unknown>,
  again: Read,
  schemas: readonly TSchema[],
): boolean {
  const value = parsed(text);
  const accepts = (make: typeof compiled): boolean =>
    schemas.some((schema) => checkerOf(make, schema).isValid(value));
  assert.equal(accepts(compiled), accepts(interpreted), 'pods and browsers disagree');
  if (!decoded.ok) {
    assert.ok(decoded.code === 'BAD_MESSAGE' || decoded.code === 'UNKNOWN_TYPE');
    assert.ok(decoded.reason.length <= MAX_REASON_CHARS, `a refusal of ${decoded.reason.length} characters`);
    return false;
  }
  const written = JSON.stringify(decoded.message);
  assert.ok(Object.getPrototypeOf(decoded.message) === Object.prototype, 'a message with another prototype');
  const repeated = again(written);
  assert.ok(repeated.ok, 'a message that was accepted is refused when it is passed on');
  assert.equal(JSON.stringify(repeated.message), written);
  assert.doesNotMatch(written, UNKNOWN_FIELD);
  assert.ok(written.length <= JSON.stringify(value).length, 'it grew');
  return true;
}

const made = new Map<typeof compiled, Map<TSchema, ReturnType<typeof compiled>>>();

function checkerOf(make: typeof compiled, schema: TSchema): ReturnType<typeof compiled> {
  const known = made.get(make) ?? new Map<TSchema, ReturnType<typeof compiled>>();
  made.set(make, known);
  const checker = known.get(schema) ?? make(schema);
  known.set(schema, checker);
  return checker;
}

const typed = Object.entries(TYPED).map(([family, read]): Target => {
  const schemas: ReadonlyMap<string, TSchema> = new Map(
    Object.entries(FAMILIES[family as keyof typeof FAMILIES].messages),
  );
  return {
    name: `messages-${family}`,
    inputs: nearlyJson(messagesOf(family)),
    check(input) {
      const text = textOf(input);
      const value = parsed(text);
      const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
      const schema = typeof type === 'string' ? schemas.get(type) : undefined;
      return checkDecoded(text, read(text), read, schema === undefined ? [] : [schema]);
    },
  };
});

/** Bodies and tokens have no type: the same text is read as each of them. */
const SCHEMAS: readonly TSchema[] = UNTYPED.flatMap((family) =>
  Object.values<TSchema>(FAMILIES[family].messages),
);
const untyped: Target = {
  name: 'bodies',
  inputs: nearlyJson(UNTYPED.flatMap(messagesOf)),
  check(input) {
    const text = textOf(input);
    if (parsed(text) === undefined) return false;
    let accepted = false;
    for (const schema of SCHEMAS) {
      const read: Read = (text) => decode(schema, parsed(text));
      accepted = checkDecoded(text, read(text), read, [schema]) || accepted;
    }
    return accepted;
  },
};

export const targets: readonly Target[] = [...typed, untyped];
