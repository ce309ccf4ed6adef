import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { anchor } from '../scripts/api-page.ts';
import { FAMILIES, SHARED } from '../scripts/families.ts';
import { isObject, plain, type Json, type JsonObject } from '../scripts/json-schema.ts';
import { byStatus, openPath } from '../scripts/openapi.ts';
import { codeNames, passesByItself } from '../src/codes.ts';
import { ROUTES, type Route } from '../src/routes.ts';
import { limitKey, limitNames } from '../src/limits.ts';

const SCRIPT = fileURLToPath(new URL('../scripts/generate.ts', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'parley-generated-'));
after(() => rmSync(scratch, { recursive: true }));

const generate = (...args: string[]): { status: number | null; stderr: string } =>
  spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });

function generated(file: string): JsonObject {
  const value = JSON.parse(readFileSync(new URL(`../generated/${file}`, import.meta.url), 'utf8')) as Json;
  assert.ok(isObject(value), `${file} holds an object`);
  return value;
}

describe('generated files', () => {
  it('are equal to the output of the generator', () => {
    const { status, stderr } = generate('--check');
    assert.equal(status, 0, stderr);
  });

  it('--check names changed, missing and foreign files', () => {
    assert.equal(generate('--out', scratch).status, 0);
    assert.equal(generate('--check', '--out', scratch).status, 0);
    appendFileSync(join(scratch, 'generated/codes.json'), ' ');
    rmSync(join(scratch, 'generated/limits.json'));
    writeFileSync(join(scratch, 'generated/foreign.json'), '{}');
    appendFileSync(join(scratch, 'rust/src/generated/server.rs'), ' ');
    appendFileSync(join(scratch, 'docs/api.md'), ' ');
    writeFileSync(join(scratch, 'docs/by-hand.md'), '');
    const { status, stderr } = generate('--check', '--out', scratch);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /generated\/ differs from the sources in codes\.json, limits\.json, foreign\.json: run `npm run generate/,
    );
    assert.match(stderr, /rust\/src\/generated\/ differs from the sources in server\.rs: /);
    assert.match(stderr, /^docs\/ differs from the sources in api\.md: /m);
  });

  for (const file of [...Object.keys(FAMILIES).map(schemaFile), 'openapi.json']) {
    it(`every reference in ${file} leads to a definition`, () => {
      const document = generated(file);
      const references = [...referencesIn(document)];
      assert.ok(references.length > 0);
      for (const reference of references) {
        assert.ok(reference.startsWith('#/'), reference);
        assert.ok(isObject(at(document, reference.slice(2).split('/'))), `${reference} leads nowhere`);
      }
    });
  }

  it('have a definition for every message', () => {
    for (const [family, { messages }] of Object.entries(FAMILIES)) {
      const definitions = generated(schemaFile(family)).$defs;
      assert.ok(isObject(definitions));
      for (const name of Object.keys(messages)) assert.ok(isObject(definitions[name]), `${family}: ${name}`);
    }
  });

  it('list every code and every limit with its key', () => {
    assert.deepEqual(Object.keys(generated('codes.json')), [...codeNames()]);
    const limits = generated('limits.json');
    for (const name of limitNames()) assert.equal(at(limits, [name, 'key']), limitKey(name));
    const page = readFileSync(new URL('../generated/reference.md', import.meta.url), 'utf8');
    for (const name of [...codeNames(), ...limitNames()]) assert.ok(page.includes(`| \`${name}\` |`), name);
  });

  it('have a table for every message and a line for every route', () => {
    const page = readFileSync(new URL('../generated/reference.md', import.meta.url), 'utf8');
    for (const { messages } of Object.values(FAMILIES))
      for (const name of Object.keys(messages)) assert.ok(page.includes(`### ${name}\n`), name);
    for (const { method, path } of Object.values(ROUTES))
      assert.ok(page.includes(`| \`${method} ${path}\` |`), `${method} ${path}`);
  });

  it('have a name for every shared type: two of the same content would become one', () => {
    const names = new Map<string, string>();
    for (const [name, schema] of Object.entries(SHARED)) {
      const content = JSON.stringify(plain(schema));
      assert.equal(names.get(content), undefined, `${name} becomes ${names.get(content)}`);
      names.set(content, name);
    }
  });
});

describe('the OpenAPI page', () => {
  const page = generated('openapi.json');

  for (const [name, route] of Object.entries(ROUTES) as [string, Route][]) {
    it(`has ${name} with its answer, every refusal, and the key if only the owner may call it`, () => {
      const operation = at(page, ['paths', openPath(route.path), route.method.toLowerCase()]);
      assert.ok(isObject(operation));
      const wanted = [route.answer.status, ...byStatus(route.codes).map(([status]) => status), 'default'].map(
        String,
      );
      assert.deepEqual(Object.keys(operation.responses as JsonObject).toSorted(), wanted.toSorted());
      assert.deepEqual(operation.security, route.owner ? [{ ownerKey: [] }] : []);
      const text = JSON.stringify(operation.responses);
      for (const code of route.codes) assert.ok(text.includes(`"${code}"`), code);
    });
  }

  for (const [name, route] of Object.entries(ROUTES) as [string, Route][]) {
    it(`[JOIN-3] documents Retry-After of ${name} for each code whose cause passes by itself, and for no other`, () => {
      const responses = ['paths', openPath(route.path), route.method.toLowerCase(), 'responses'];
      for (const [status, codes] of byStatus(route.codes)) {
        const header = at(page, [...responses, String(status), 'headers', 'Retry-After']);
        const wanted = codes.some(passesByItself);
        assert.equal(isObject(header), wanted, `${status}`);
      }
    });

    it(`has a schema for every parameter in the path of ${name}`, () => {
      const operation = ['paths', openPath(route.path), route.method.toLowerCase()];
      const parameters = (at(page, [...operation, 'parameters']) ?? []) as readonly JsonObject[];
      const inPath = [...openPath(route.path).matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      assert.deepEqual(
        parameters.map((parameter) => parameter.name),
        inPath,
      );
      for (const { required, schema } of parameters) assert.ok(required === true && isObject(schema));
    });
  }

  it('requires no body where all of its fields may be left out', () => {
    const required = (path: string, method: string): Json | undefined =>
      at(page, ['paths', path, method, 'requestBody', 'required']);
    assert.equal(required('/v1/rooms', 'post'), false);
    assert.equal(required('/v1/rooms/{room}', 'patch'), false);
    assert.equal(required('/v1/rooms/{room}/participants/{participant}/ban', 'post'), false);
    assert.equal(required('/v1/rooms/{room}/participants/{participant}/kick', 'post'), undefined);
  });

  it('has the routes and the socket, and nothing else', () => {
    assert.ok(isObject(page.paths));
    const operations = Object.values(page.paths).flatMap((item) =>
      Object.values(item as JsonObject).map((operation) => (operation as JsonObject).operationId),
    );
    assert.equal(operations.length, Object.keys(ROUTES).length + 1);
    assert.deepEqual(new Set(operations), new Set([...Object.keys(ROUTES), 'openSocket']));
  });
});

describe('the page of the API', () => {
  const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map((match) => match[1] ?? '');
  const sectionOf = (title: string): string => page.split(`### ${title}\n`)[1]?.split('\n### ')[0] ?? '';

  for (const [name, route] of Object.entries(ROUTES) as [string, Route][]) {
    it(`has ${name} with its parameters, the status of its answer and each refusal`, () => {
      const path = openPath(route.path);
      const section = sectionOf(`${route.method} ${path}`);
      for (const [, parameter] of path.matchAll(/\{(\w+)\}/g))
        assert.match(section, cell(`\`${parameter}\``));
      assert.match(section, cell(String(route.answer.status)));
      for (const code of route.codes) assert.match(section, cell(`\`${code}\``));
      assert.equal(section.includes('Requires the owner key.'), route.owner);
    });
  }

  it('has a heading for every link within it, and no heading twice', () => {
    const anchors = headings.map(anchor);
    assert.equal(new Set(anchors).size, anchors.length);
    const targets = [...page.matchAll(/\]\(#([^)]*)\)/g)].map((match) => match[1] ?? '');
    assert.ok(targets.length > 0);
    for (const target of targets) assert.ok(anchors.includes(target), target);
  });
});

const cell = (text: string): RegExp => new RegExp(`\\| ${text} +\\|`);

function schemaFile(family: string): string {
  return ['client', 'server', 'bus'].includes(family)
    ? `${family}-messages.schema.json`
    : `${family}.schema.json`;
}

function* referencesIn(value: Json): Generator<string> {
  if (Array.isArray(value)) for (const part of value as readonly Json[]) yield* referencesIn(part);
  if (!isObject(value)) return;
  if (typeof value.$ref === 'string') yield value.$ref;
  for (const part of Object.values(value)) yield* referencesIn(part);
}

function at(value: JsonObject, path: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  return found;
}
