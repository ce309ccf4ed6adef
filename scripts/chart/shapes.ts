/** Shapes that several values have, by the names that `# @schema` lines of values.yaml use, and what each type has without such a line. */
import { readFileSync } from 'node:fs';

/** Keywords of JSON Schema. */
export type Shape = Readonly<Record<string, unknown>>;

const object: Shape = { type: 'object' };
const strings: Shape = { additionalProperties: { type: 'string' } };
const when: Shape = { enum: ['ScheduleAnyway', 'DoNotSchedule'] };
const variable: Shape = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_.-]*$' },
    value: { type: 'string' },
  },
};
const named: Shape = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1 } },
};

export const SHAPES: Readonly<Record<string, Shape>> = {
  // Of a type. Nothing here can be less than nothing.
  integer: { minimum: 0 },
  // Names of Kubernetes.
  objectName: { pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$', maxLength: 253 },
  quantity: { pattern: '^[0-9]+(\\.[0-9]+)?(k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$' },
  natsSize: { pattern: '^[0-9]+([kKmMgGtT][iI]?[bB]?)?$' },
  registry: { pattern: '^([A-Za-z0-9._-]+(:[0-9]+)?(/[A-Za-z0-9._-]+)*/?)?$' },
  digest: { pattern: '^(sha256:[0-9a-f]{64})?$' },
  port: { minimum: 1, maximum: 65_535 },
  replicas: { minimum: 1, maximum: 1000 },
  rate: { minimum: 1, maximum: 1_000_000 },
  strings,
  named: listOf(named),
  // Charts around this one know both forms.
  pullSecrets: { items: { anyOf: [{ type: 'string', minLength: 1 }, named] } },
  objects: listOf(object),
  extra: {
    additionalProperties: false,
    properties: {
      env: listOf(variable),
      envFrom: listOf(object),
      volumes: listOf(named),
      volumeMounts: listOf(named),
      containers: listOf(named),
      initContainers: listOf(named),
      labels: { type: 'object', ...strings },
      annotations: { type: 'object', ...strings },
      hostAliases: listOf(object),
      topologySpreadConstraints: listOf(object),
    },
  },
  cidrs: { items: { type: 'string', pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' } },
  spread: { additionalProperties: false, required: ['zone', 'node'], properties: { zone: when, node: when } },
  signalingLimits: limits(
    JSON.parse(readFileSync('services/protocol/generated/limits.json', 'utf8')) as Limits,
  ),
  relayLimits: limits(limitsOfTable(readFileSync('services/relay/README.md', 'utf8'))),
};

function listOf(items: Shape): Shape {
  return { type: 'array', items };
}

type Limits = Readonly<Record<string, { readonly min: number; readonly max: number }>>;

function limits(known: Limits): Shape {
  const properties = Object.entries(known).map(([name, { min, max }]) => {
    return [name, { type: 'integer', minimum: min, maximum: max }] as const;
  });
  return { additionalProperties: false, properties: Object.fromEntries(properties) };
}

/** The relay's own tests hold its README to its limits. */
function limitsOfTable(page: string): Limits {
  const rows = page.matchAll(/^\| `(?<name>[a-zA-Z.]+)` +\| \d+ +\| (?<min>\d+) to (?<max>\d+) +\|/gm);
  const found = [...rows].map(({ groups = {} }) => {
    const { name = '', min, max } = groups;
    return [name, { min: Number(min), max: Number(max) }] as const;
  });
  if (found.length === 0) throw new Error('no table of limits in services/relay/README.md');
  return Object.fromEntries(found);
}
