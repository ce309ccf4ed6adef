/** Pods of a namespace, as the API server lists them for the account of this pod. */
import { readFileSync } from 'node:fs';

const KUBERNETES = 'https://kubernetes.default.svc';
const tokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
    }[];
  };
  readonly status: { readonly phase: string; readonly podIP?: string };
}

export async function listPods(namespace: string, labelSelector = ''): Promise<readonly Pod[]> {
  const query = new URLSearchParams({ labelSelector });
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8')}` };
  const response = await fetch(`${KUBERNETES}/api/v1/namespaces/${namespace}/pods?${query}`, { headers });
  if (!response.ok) throw new Error(`pods are not listed: ${response.status}`);
  return ((await response.json()) as { items: readonly Pod[] }).items;
}
