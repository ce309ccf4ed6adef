/** A whole Parley of the test's own: real NATS, pods, coturn, Envoy and the web application, on free ports. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type Stack } from '@parley/local/stack';

export interface TestSite {
  readonly stack: Stack;
  readonly web: string;
  close(): Promise<void>;
}

export async function startSite(env: NodeJS.ProcessEnv = {}): Promise<TestSite> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-e2e-'));
  const stack = await startStack({ dir, env });
  return {
    stack,
    web: stack.endpoints.web,
    async close() {
      await stack.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
