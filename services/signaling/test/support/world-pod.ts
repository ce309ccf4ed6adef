import type { Core } from '../../src/core/core.ts';

/** A pod of a scripted world. */
export interface WorldPod {
  readonly name: string;
  readonly boot: number;
  readonly core: Core;
  /** In the world's time. */
  readonly startedAt: number;
  /** The difference of its clock to the world's. */
  readonly ahead: number;
  readonly listening: Set<string>;
  readonly sockets: Set<number>;
  running: boolean;
}
