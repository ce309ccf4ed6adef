/**
 * Stands in for the k6 operator, as far as the TestRun of loadtest/k8s uses it: a Job that checks the script, then a Job and a Service for each
 * runner, which all wait until every one of them is ready.
 */
import { kubectl } from './kubectl.ts';
import type { Lab } from './lab.ts';

const API_PORT = 6565;
const SCRIPTS = '/test';

interface Variable {
  readonly name: string;
  readonly value: string;
}

interface Container {
  readonly image: string;
  readonly env: readonly Variable[];
  readonly resources?: object;
}

/** Only what loadtest/k8s/manifest.ts sets. */
export interface TestRun {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: {
    readonly parallelism: number;
    readonly separate: boolean;
    readonly script: { readonly configMap: { readonly name: string; readonly file: string } };
    readonly arguments: string;
    readonly initializer: Container;
    readonly runner: Container;
  };
}

export async function readTestRun(lab: Lab, at: string, name: string): Promise<TestRun> {
  return JSON.parse(await kubectl(lab, '-n', at, 'get', 'testrun', name, '-o', 'json')) as TestRun;
}

/** The Job that has k6 read the script and its options. */
export function initializerOf(run: TestRun): object {
  const { initializer } = run.spec;
  const command = ['k6', 'inspect', '--execution-requirements', scriptOf(run)];
  return jobOf(run, `${run.metadata.name}-initializer`, { ...initializer, command }, {});
}

/** The Jobs and Services of the runners, which are counted from 1. Their k6 are paused until `startRunners`. */
export function runnersOf(run: TestRun): object[] {
  const { parallelism, separate } = run.spec;
  return Array.from({ length: parallelism }, (_, index) => index + 1).flatMap((nth) => {
    const name = `${run.metadata.name}-${nth}`;
    const labels = { runner: 'true' };
    const probe = { httpGet: { path: '/v1/status', port: API_PORT } };
    const container = {
      ...run.spec.runner,
      command: runnerCommand(run, nth),
      ports: [{ containerPort: API_PORT }],
      livenessProbe: probe,
      readinessProbe: probe,
    };
    const job = jobOf(run, name, container, {
      labels,
      ...(separate && { affinity: onNodesOfTheirOwn(run) }),
    });
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadataOf(run, serviceName(run, nth), labels),
      spec: {
        selector: { 'batch.kubernetes.io/job-name': name },
        ports: [{ name: 'http-api', port: API_PORT }],
      },
    };
    return [job, service];
  });
}

/** Lets all runners begin, as the operator's starter does; they have to be ready. */
export async function startRunners(lab: Lab, run: TestRun): Promise<void> {
  const { name, namespace } = run.metadata;
  const data = { type: 'status', id: 'default', attributes: { paused: false, stopped: false } };
  const services = Array.from({ length: run.spec.parallelism }, (_, index) => serviceName(run, index + 1));
  const addresses = await Promise.all(
    services.map((service) =>
      kubectl(lab, '-n', namespace, 'get', 'service', service, '-o', 'jsonpath={.spec.clusterIP}'),
    ),
  );
  await Promise.all(
    addresses.map(async (address) => {
      const how = { method: 'PATCH', body: JSON.stringify({ data }) };
      const response = await fetch(`http://${address}:${API_PORT}/v1/status`, how);
      if (!response.ok) throw new Error(`a runner of ${name} answers ${response.status} to the start`);
    }),
  );
}

function runnerCommand(run: TestRun, nth: number): string[] {
  const { parallelism, arguments: further } = run.spec;
  const ends = Array.from({ length: parallelism + 1 }, (_, end) =>
    end === 0 ? '0' : end === parallelism ? '1' : `${end}/${parallelism}`,
  );
  const share = [
    `--execution-segment=${ends[nth - 1]}:${ends[nth]}`,
    `--execution-segment-sequence=${ends.join()}`,
  ];
  return [
    'k6',
    'run',
    '--quiet',
    ...(parallelism > 1 ? share : []),
    ...further.split(' '),
    scriptOf(run),
    `--address=0.0.0.0:${API_PORT}`,
    '--paused',
    '--tag',
    `instance_id=${nth}`,
    '--tag',
    `testrun_name=${run.metadata.name}`,
  ];
}

const scriptOf = ({ spec }: TestRun): string => `${SCRIPTS}/${spec.script.configMap.file}`;

const serviceName = ({ metadata }: TestRun, nth: number): string => `${metadata.name}-service-${nth}`;

function jobOf(
  run: TestRun,
  name: string,
  container: object,
  { labels = {}, affinity }: { labels?: object; affinity?: object },
): object {
  const script = { name: 'script', mountPath: SCRIPTS };
  const metadata = metadataOf(run, name, labels);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: {
      // What was measured is not measured again.
      backoffLimit: 0,
      template: {
        metadata: { labels: metadata.labels },
        spec: {
          restartPolicy: 'Never',
          affinity,
          containers: [{ name: 'k6', ...container, volumeMounts: [script] }],
          volumes: [{ name: script.name, configMap: { name: run.spec.script.configMap.name } }],
        },
      },
    },
  };
}

/** Removed with the TestRun. */
function metadataOf({ metadata }: TestRun, name: string, labels: object) {
  const owner = { apiVersion: 'k6.io/v1alpha1', kind: 'TestRun', name: metadata.name, uid: metadata.uid };
  return {
    name,
    namespace: metadata.namespace,
    labels: { app: 'k6', k6_cr: metadata.name, ...labels },
    ownerReferences: [owner],
  };
}

function onNodesOfTheirOwn({ metadata }: TestRun): object {
  const labelSelector = { matchLabels: { k6_cr: metadata.name, runner: 'true' } };
  const term = { labelSelector, topologyKey: 'kubernetes.io/hostname' };
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
}
