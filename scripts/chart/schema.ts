/** What Helm refuses before it renders: names that no template knows, wrong types, and values that none can be. Sentences are in requirements.yaml. */
import { SHAPES, type Shape } from './shapes.ts';
import type { Value } from './values.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Section extends Schema {
  readonly properties: Readonly<Record<string, Schema>>;
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
  const whole = sectionOf(root);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Parley chart',
    description: 'Generated from values.yaml by `npm run chart:generate`.',
    ...whole,
    // A chart around this one may have more global values, and switches this one by a value that no template here reads.
    properties: {
      ...whole.properties,
      global: { ...whole.properties['global'], additionalProperties: true },
      enabled: { type: 'boolean' },
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Helm takes a value that is set to `null` away: without all of them a template would take it for zero, or for nothing. */
function sectionOf(tree: Tree): Section {
  const properties = Object.fromEntries([...tree].map(([key, inner]) => [key, schemaOfNode(inner)]));
  return { type: 'object', additionalProperties: false, required: [...tree.keys()], properties };
}

function schemaOfNode(node: Tree | Value): Schema {
  if (node instanceof Map) return sectionOf(node);
  return { type: node.type, description: node.description, ...shapeOf(node) };
}

function shapeOf({ path, type, shape }: Value): Shape {
  if (typeof shape === 'object') return shape;
  const known = SHAPES[shape ?? type];
  if (known === undefined && shape !== undefined) throw new Error(`${path}: no shape is named ${shape}`);
  return known ?? {};
}
