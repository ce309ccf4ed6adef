import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { FAMILIES, HTTP_BODIES, type FamilyName } from '../scripts/families.ts';
import {
  decode,
  decodeBusMessage,
  decodeClientMessage,
  decodeHomeAnswer,
  decodeHomeRequest,
  decodeLinkMessage,
  decodePageBusMessage,
  decodePeerMessage,
  decodeServerMessage,
  decodeVisitMessage,
  decodeVisitorMessage,
  type Decoded,
} from '../src/decode.ts';
import { HOME_ANSWERS } from '../src/home.ts';
import { ROUTES, type Route } from '../src/routes.ts';
import { allFixtures, fixtures, namesInText, wireText, type Fixture } from './fixture.ts';

/** Fixtures of no known message: not JSON, without a type, of an unknown type. */
const NO_TYPE = 'any';
const MIN_VALID = 2;
const MIN_INVALID = 3;

const kebab = (name: string): string => name.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase();

/** The messages of a family by the first part of the names of their fixtures. */
const messagesOf = (family: FamilyName): ReadonlyMap<string, TSchema> =>
  new Map(Object.entries(FAMILIES[family].messages).map(([name, schema]) => [kebab(name), schema]));

/** Bodies and tokens have no `type`: their route or their audience determines it. */
const UNTYPED = ['http', 'tokens', 'media', 'turn', 'manifest'] as const satisfies readonly FamilyName[];
type UntypedFamily = (typeof UNTYPED)[number];
const isUntyped = (family: FamilyName): family is UntypedFamily =>
  (UNTYPED as readonly FamilyName[]).includes(family);

function decodeUntyped(family: UntypedFamily): (fixture: Fixture) => Decoded<unknown> {
  const schemas = messagesOf(family);
  return (fixture) => {
    const schema = schemas.get(fixture.type);
    assert.ok(schema, `${fixture.name} begins with no message of ${family}`);
    return decode(schema, JSON.parse(wireText(fixture)));
  };
}

const DECODERS = {
  client: (fixture: Fixture): Decoded<unknown> => decodeClientMessage(wireText(fixture)),
  server: (fixture: Fixture): Decoded<unknown> => decodeServerMessage(wireText(fixture)),
  bus: (fixture: Fixture): Decoded<unknown> => decodeBusMessage(wireText(fixture)),
  home: (fixture: Fixture): Decoded<unknown> =>
    fixture.type in HOME_ANSWERS ? decodeHomeAnswer(wireText(fixture)) : decodeHomeRequest(wireText(fixture)),
  http: decodeUntyped('http'),
  tokens: decodeUntyped('tokens'),
  media: decodeUntyped('media'),
  turn: decodeUntyped('turn'),
  visitor: (fixture: Fixture): Decoded<unknown> => decodeVisitorMessage(wireText(fixture)),
  visit: (fixture: Fixture): Decoded<unknown> => decodeVisitMessage(wireText(fixture)),
  pages: (fixture: Fixture): Decoded<unknown> => decodePageBusMessage(wireText(fixture)),
  link: (fixture: Fixture): Decoded<unknown> => decodeLinkMessage(wireText(fixture)),
  peer: (fixture: Fixture): Decoded<unknown> => decodePeerMessage(wireText(fixture)),
  manifest: decodeUntyped('manifest'),
} as const satisfies Record<FamilyName, (fixture: Fixture) => Decoded<unknown>>;

it('no schema has a format, which the decoder of browsers does not check', () => {
  assert.doesNotMatch(JSON.stringify(FAMILIES), /"format":/);
});

for (const family of Object.keys(FAMILIES) as FamilyName[]) {
  const valid = fixtures(family, 'valid');
  const invalid = fixtures(family, 'invalid');
  const isTyped = !isUntyped(family);
  const types = [...messagesOf(family).keys()];

  describe(`fixtures of the family ${family}`, () => {
    for (const fixture of valid) {
      it(`${fixture.name} is accepted, without the fields to be ignored`, () => {
        const decoded = DECODERS[family](fixture);
        assert.deepEqual(decoded, { ok: true, message: withoutIgnored(fixture) });
        if (isTyped) assert.equal(typeOf(fixture.content.message), fixture.type);
      });
    }

    for (const fixture of invalid) {
      it(`${fixture.name} is refused`, () => {
        const decoded = DECODERS[family](fixture);
        assert.equal(decoded.ok, false, 'it was accepted');
        assert.equal(decoded.code, fixture.content.code);
        assert.notEqual(decoded.reason, '');
      });
    }

    it('every message has valid and invalid fixtures', () => {
      for (const type of types) {
        const good = valid.filter((fixture) => fixture.type === type).length;
        const bad = invalid.filter((fixture) => fixture.type === type).length;
        assert.ok(good >= MIN_VALID, `${family}/valid has ${good} of ${MIN_VALID} fixtures for ${type}`);
        assert.ok(bad >= MIN_INVALID, `${family}/invalid has ${bad} of ${MIN_INVALID} fixtures for ${type}`);
      }
    });

    it('every fixture belongs to an existing message and has a description', () => {
      for (const fixture of [...valid, ...invalid]) {
        const known = types.includes(fixture.type) || (fixture.type === NO_TYPE && invalid.includes(fixture));
        assert.ok(known, `${fixture.name} begins with no message of ${family}`);
        assert.equal(typeof fixture.content.description, 'string', fixture.name);
      }
    });

    it('no two fixtures of the family have the same name', () => {
      assert.equal(namesInText(family), valid.length + invalid.length);
    });

    it('no invalid fixture has the content of a valid one', () => {
      const key = (fixture: Fixture): string => `${fixture.type} ${wireText(fixture)}`;
      const good = new Set(valid.map(key));
      assert.deepEqual(
        invalid.filter((fixture) => good.has(key(fixture))).map((fixture) => fixture.name),
        [],
      );
    });
  });
}

describe('[GEN-2] fields that a reader does not know', () => {
  it('are removed at every depth, also in lists and in unions', () => {
    const media = { audio: true, video: false, screen: false };
    const line = { id: 'abcdefgh', from: 'p0123456789abcdef', name: 'Ada', text: 'hello', at: 1 };
    const resume = { type: 'resume', token: 't', generation: 1, name: 'Ada', media, chat: [line] };
    const more = {
      ...resume,
      media: { ...media, smell: true },
      chat: [{ ...line, colour: 'red' }],
      extra: [1],
    };
    assert.deepEqual(decodeClientMessage(JSON.stringify(more)), { ok: true, message: resume });

    const answer = { type: 'ice', iceServers: [{ urls: ['stun:turn.example.org'] }], iceTtlS: 60 };
    const withMore = { ...answer, iceServers: [{ urls: ['stun:turn.example.org'], speed: 9 }] };
    assert.deepEqual(decodeServerMessage(JSON.stringify(withMore)), { ok: true, message: answer });
  });

  it('named like properties of the prototype have no effect', () => {
    const decoded = decodeClientMessage('{"type":"leave","__proto__":{"polluted":true},"constructor":{}}');
    assert.deepEqual(decoded, { ok: true, message: { type: 'leave' } });
    assert.equal(Object.getPrototypeOf(decoded.ok && decoded.message), Object.prototype);
  });
});

describe('rules that fixtures cite', () => {
  it('are rules of SPEC.md', () => {
    const spec = readFileSync(new URL('../SPEC.md', import.meta.url), 'utf8');
    const rules = new Set([...spec.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map((match) => match[1]));
    for (const fixture of [...Object.keys(DECODERS), 'directed'].flatMap(allFixtures)) {
      const { rule } = fixture.content;
      if (rule === undefined) continue;
      assert.ok(typeof rule === 'string' && rules.has(rule), `${fixture.name} cites ${JSON.stringify(rule)}`);
    }
  });
});

describe('bodies', () => {
  it('every body and answer of a route has a name, a schema file and fixtures', () => {
    const named = new Set<TSchema>(Object.values(HTTP_BODIES));
    for (const [name, route] of Object.entries(ROUTES) as [string, Route][]) {
      for (const schema of [route.body, route.answer.schema]) {
        assert.ok(schema === null || named.has(schema), `${name} has a body that families.ts does not name`);
      }
    }
  });
});

/** The message without the fields that the fixture lists as ignored. */
function withoutIgnored(fixture: Fixture): unknown {
  const { message, ignored } = fixture.content;
  if (!Array.isArray(ignored)) return message;
  return Object.fromEntries(Object.entries(message as object).filter(([field]) => !ignored.includes(field)));
}

function typeOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined;
}
