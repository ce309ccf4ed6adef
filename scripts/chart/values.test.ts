import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaOf } from './schema.ts';
import { driftOf } from './usage.ts';
import { readValues } from './values.ts';

const text = `# For readers of the file.
# -- A name.
name: ''
part:
  # -- How many
  # there are.
  # @schema {"maximum": 9}
  size: 2
  # -- What it takes.
  # @schema strings
  resources:
    requests: { cpu: 1 }
  # -- Whom it serves.
  to: []
`;

test('a value has the sentences above it, a section has none', () => {
  assert.deepEqual(
    readValues(text).map(({ path, description, type }) => [path, description, type]),
    [
      ['name', 'A name.', 'string'],
      ['part.size', 'How many there are.', 'integer'],
      ['part.resources', 'What it takes.', 'object'],
      ['part.to', 'Whom it serves.', 'array'],
    ],
  );
});

test('a value without a description is refused by its path', () => {
  assert.throws(() => readValues('part:\n  size: 2\n'), { message: /part.size has no description/ });
});

test('a value that no template uses is named', () => {
  const drift = driftOf(readValues(text), [
    '{{ .Values.name }} {{ .Values.part.resources.requests }} {{ .Values.part.to }}',
  ]);
  assert.deepEqual(drift, { unused: ['part.size'], undescribed: [] });
});

test('a value that a template uses without a description is named', () => {
  const used = '{{ .Values.name }}{{ .Values.part.size }}{{ .Values.part.resources }}{{ .Values.part.to }}';
  const drift = driftOf(readValues(text), [`${used}{{ .Values.part.height }}`]);
  assert.deepEqual(drift, { unused: [], undescribed: ['part.height'] });
});

test('what stands in a comment is no use', () => {
  assert.equal(driftOf(readValues(text), ['{{- /* .Values.name */}}']).unused.includes('name'), true);
});

test('the schema takes no other names, every name has a value, and free text where Kubernetes has its own', () => {
  const schema = JSON.parse(schemaOf(readValues(text))) as { properties: { part: unknown } };
  assert.deepEqual(schema.properties.part, {
    type: 'object',
    additionalProperties: false,
    required: ['size', 'resources', 'to'],
    properties: {
      size: { type: 'integer', description: 'How many there are.', maximum: 9 },
      resources: {
        type: 'object',
        description: 'What it takes.',
        additionalProperties: { type: 'string' },
      },
      to: { type: 'array', description: 'Whom it serves.' },
    },
  });
});

test('a shape that nothing has is refused by the path of its value', () => {
  assert.throws(() => schemaOf(readValues('# -- A name.\n# @schema square\nname: x\n')), {
    message: 'name: no shape is named square',
  });
});

test('numbers are not negative unless they are said to be', () => {
  const schema = JSON.parse(schemaOf(readValues('# -- How many.\nsize: 2\n'))) as {
    properties: { size: { minimum: number } };
  };
  assert.equal(schema.properties.size.minimum, 0);
});
