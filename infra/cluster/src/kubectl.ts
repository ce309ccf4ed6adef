import { join } from 'node:path';
import { kubeconfig } from './certificates.ts';
import type { Lab } from './lab.ts';
import { inLab } from './network.ts';
import { run } from './run.ts';

/** Runs kubectl as the lab's administrator; answers its output. */
export function kubectl(lab: Lab, ...args: string[]): Promise<string> {
  return run([...kubectlCommand(lab), ...args]);
}

export function kubectlCommand(lab: Lab): string[] {
  const program = join(lab.toolDir('kubectl', 'KUBECTL_VERSION'), 'kubectl');
  return [...inLab, program, `--kubeconfig=${kubeconfig(lab, 'admin')}`];
}
