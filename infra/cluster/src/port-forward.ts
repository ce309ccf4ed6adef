import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { kubectlCommand } from './kubectl.ts';
import type { Lab } from './lab.ts';
import { namespace, type Pod } from './release.ts';

// A kubectl that prints nothing for this long has failed.
const opensWithinMs = 30_000;

export interface PortForward {
  /** In the lab's network: 127.0.0.1 and a free port. */
  readonly address: string;
  close(): void;
}

/** Forwards a port to a pod from within the pod's namespace, where no network policy applies. */
export async function forwardPort(lab: Lab, pod: Pod, port: number, at = namespace): Promise<PortForward> {
  const [program = '', ...args] = kubectlCommand(lab);
  const target = ['port-forward', `pod/${pod.metadata.name}`, `:${port}`, '--address=127.0.0.1'];
  const child = spawn(program, [...args, '-n', at, ...target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(opensWithinMs) })) as [string];
  const address = /from (\S+) ->/.exec(line)?.[1];
  if (address === undefined) throw new Error(`kubectl printed: ${line}`);
  return { address, close: () => void child.kill() };
}
