/** What Helm refuses before it renders: names that no template knows, and wrong types. Sentences are in requirements.yaml. */
import type { Value } from './values.ts';

interface Schema {
  readonly type: string;
  readonly description?: string;
  readonly additionalProperties?: boolean;
  readonly properties?: Record<string, Schema>;
}

type Tree = Map<string, Tree | Value>;

export function schemaOf(values: readonly Value[]): string {
  const root: Tree = new Map();
  for (const value of values) {
    const keys = value.path.split('.');
    const last = keys.pop() ?? '';
    let section = root;
    for (const key of keys) {
      const known = section.get(key);
      const inner: Tree = known instanceof Map ? known : new Map();
      section.set(key, inner);
      section = inner;
    }
    section.set(last, value);
  }
  // Helm puts `global` into the values of every chart.
  const properties = { ...propertiesOf(root), global: { type: 'object' } };
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Parley chart',
    description: 'Generated from values.yaml by `npm run chart:generate`.',
    type: 'object',
    additionalProperties: false,
    properties,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function propertiesOf(tree: Tree): Record<string, Schema> {
  return Object.fromEntries([...tree].map(([key, inner]) => [key, schemaOfNode(inner)]));
}

function schemaOfNode(node: Tree | Value): Schema {
  if (!(node instanceof Map)) return { type: node.type, description: node.description };
  return { type: 'object', additionalProperties: false, properties: propertiesOf(node) };
}
