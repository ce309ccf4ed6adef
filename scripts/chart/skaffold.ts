/**
 * Checks skaffold.yaml without skaffold: its fields against the part of the schema of `skaffold/v4beta13` that it uses, and the names
 * in it against Dockerfiles and the chart. Helm reads the file, as the values of a chart with that schema.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHART, renderChart } from './tools.ts';

interface Artifact {
  readonly image: string;
  readonly docker: { readonly dockerfile: string; readonly buildArgs?: Readonly<Record<string, string>> };
}

interface Patch {
  readonly op: string;
  readonly path: string;
  readonly value: Readonly<Record<string, string>>;
}

interface Config {
  readonly build: { readonly artifacts: readonly Artifact[] };
  readonly deploy: {
    readonly helm: {
      readonly releases: readonly { readonly setValueTemplates: Readonly<Record<string, string>> }[];
    };
  };
  readonly profiles: readonly { readonly name: string; readonly patches?: readonly Patch[] }[];
}

const text = { type: 'string' };
const texts = { type: 'object', additionalProperties: text };
const yes = { type: 'boolean' };
const listOf = (items: object) => ({ type: 'array', items });
const only = (properties: object, ...required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** Fields as https://skaffold.dev/docs/references/yaml lists them. One that is missing here is added when it is used. */
const SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  ...only(
    {
      apiVersion: { const: 'skaffold/v4beta13' },
      kind: { const: 'Config' },
      metadata: only({ name: text }),
      build: only({
        local: only({ push: yes, useBuildkit: yes }),
        artifacts: listOf(
          only({ image: text, docker: only({ dockerfile: text, buildArgs: texts }) }, 'image', 'docker'),
        ),
      }),
      deploy: only({
        helm: only({
          releases: listOf(
            only(
              { name: text, chartPath: text, valuesFiles: listOf(text), setValueTemplates: texts },
              'name',
            ),
          ),
        }),
      }),
      profiles: listOf(
        only(
          {
            name: text,
            portForward: listOf(
              only({
                resourceType: text,
                resourceName: text,
                port: { type: 'integer' },
                localPort: { type: 'integer' },
              }),
            ),
            patches: listOf(
              only(
                { op: { enum: ['add', 'replace', 'remove', 'move', 'copy', 'test'] }, path: text, value: {} },
                'path',
              ),
            ),
          },
          'name',
        ),
      ),
      // Helm's own, of every chart.
      global: {},
    },
    'apiVersion',
    'kind',
  ),
};

/** Throws Helm's sentences for a file that breaks the schema; otherwise answers one for each name that leads nowhere. */
export function faultsOf(file: string): string[] {
  const config = read(file);
  const { artifacts } = config.build;
  const names = new Set(artifacts.map(({ image }) => image));
  const releases = config.deploy.helm.releases.flatMap(({ setValueTemplates }) =>
    Object.entries(setValueTemplates),
  );
  return [
    ...artifacts.flatMap(({ docker }) => faultsOfBuild(docker.dockerfile, docker.buildArgs ?? {})),
    ...releases.flatMap(([path, template]) => [
      ...(isValue(path) ? [] : [`${path} is no value of the chart`]),
      ...[...template.matchAll(/\.IMAGE_(?:REPO|TAG)_(\w+)/g)]
        .filter(([, name = '']) => !names.has(name))
        .map(([variable]) => `${path}: ${variable} is of no artifact`),
    ]),
    ...config.profiles.flatMap(({ patches = [] }) =>
      patches.flatMap((patch) => faultsOfPatch(patch, artifacts)),
    ),
  ];
}

/** Helm validates the file and prints it as JSON. */
function read(file: string): Config {
  const chart = mkdtempSync(join(tmpdir(), 'parley-skaffold-'));
  try {
    mkdirSync(join(chart, 'templates'));
    writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: skaffold\nversion: 0.0.1\n');
    writeFileSync(join(chart, 'values.schema.json'), JSON.stringify(SCHEMA));
    writeFileSync(join(chart, 'templates/all.yaml'), '{{ .Values | toJson }}\n');
    const [, json = ''] = /^(\{.*\})$/m.exec(renderChart(chart, '-f', file)) ?? [];
    return JSON.parse(json) as Config;
  } finally {
    rmSync(chart, { recursive: true });
  }
}

function faultsOfPatch({ op, path, value }: Patch, artifacts: readonly Artifact[]): string[] {
  const at = /^\/build\/artifacts\/(\d+)\/docker\/buildArgs$/.exec(path)?.[1];
  const docker = at === undefined ? undefined : artifacts[Number(at)]?.docker;
  if (docker === undefined) return [`the patch of ${path} is of no artifact's build arguments`];
  const isThere = docker.buildArgs !== undefined;
  if (op === (isThere ? 'add' : 'replace'))
    return [`the patch of ${path} has to ${isThere ? 'replace' : 'add'} them`];
  return faultsOfBuild(docker.dockerfile, value);
}

function faultsOfBuild(dockerfile: string, args: Readonly<Record<string, string>>): string[] {
  const recipe = readFileSync(dockerfile, 'utf8');
  return Object.keys(args)
    .filter((name) => !new RegExp(`^ARG ${name}\\b`, 'm').test(recipe))
    .map((name) => `${dockerfile} has no ARG ${name}`);
}

function isValue(path: string): boolean {
  let schema: unknown = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8'));
  for (const key of path.split('.'))
    schema = (schema as { properties?: Record<string, unknown> }).properties?.[key] ?? {};
  return 'type' in (schema as object) || '$ref' in (schema as object);
}
