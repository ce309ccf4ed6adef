/** The machine under the bench, and how processes are kept to one core of it. */
import { availableParallelism, cpus, release, totalmem } from 'node:os';

export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly node: string;
  /** Something was kept to one core by the time this is read: servers to core 0, the generator to core 1. */
  readonly pinned: boolean;
}

let isPinned = false;

export function describeMachine(): Machine {
  const cores = availableParallelism();
  return {
    cores,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    // Some benches begin with this, and some keep themselves to a core, after which this process has fewer of them.
    get pinned() {
      return isPinned || availableParallelism() < cores;
    },
  };
}

/** With what runs where, for benches that start all they measure by `onCore`. */
export function describe(machine: Machine): string {
  const where = machine.cores >= 2 ? 'servers on core 0, generator on core 1' : 'one core: nothing is pinned';
  return `${describeAlone(machine)}; ${where}`;
}

export const describeAlone = ({ cores, cpu, memoryGb, kernel, node }: Machine): string =>
  `${cores} cores of ${cpu}, ${memoryGb} GB, Linux ${kernel}, node ${node}`;

/** The command line that pins a program to one core, if the machine has several. */
export function onCore(core: number, command: readonly string[]): string[] {
  if (availableParallelism() < 2) return [...command];
  isPinned = true;
  return ['taskset', '-c', String(core), ...command];
}
