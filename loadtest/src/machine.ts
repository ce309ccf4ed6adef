/** The machine under the bench, and how processes are kept to one core of it. */
import { availableParallelism, cpus, release, totalmem } from 'node:os';

export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly node: string;
  /** Servers on core 0, generator on core 1. */
  readonly pinned: boolean;
}

export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    pinned: isPinned(),
  };
}

/** With what runs where, as most benches have it. */
export function describe(machine: Machine): string {
  const where = machine.pinned ? 'servers on core 0, generator on core 1' : 'one core: nothing is pinned';
  return `${describeAlone(machine)}; ${where}`;
}

export const describeAlone = ({ cores, cpu, memoryGb, kernel, node }: Machine): string =>
  `${cores} cores of ${cpu}, ${memoryGb} GB, Linux ${kernel}, node ${node}`;

const isPinned = (): boolean => availableParallelism() >= 2;

/** The command line that keeps a program to one core, where there is more than one. */
export const onCore = (core: number, command: readonly string[]): string[] =>
  isPinned() ? ['taskset', '-c', String(core), ...command] : [...command];
