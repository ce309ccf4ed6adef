/** What the bench asks of the generator's process, and what it answers. */
import type { Target } from './generator/dialect.ts';

export interface Watched {
  readonly name: string;
  readonly pid: number;
}

interface Common {
  readonly dialect: 'parley' | 'min';
  /** The second and later people of a room go round over these. */
  readonly targets: readonly Target[];
  readonly watched: readonly Watched[];
  readonly warmMs: number;
  readonly measureMs: number;
}

export type Job = Common &
  (
    | { readonly kind: 'tickets'; readonly lanes: number; readonly atLeast: number }
    /** `kept`: with the tickets of the last `tickets` job. */
    | {
        readonly kind: 'mesh';
        readonly calls: number;
        /** At most so many begin in a second. */
        readonly callsPerSecond: number;
        readonly tickets: 'asked' | 'kept';
      }
    | { readonly kind: 'pairs'; readonly pairs: number; readonly window: number }
    | { readonly kind: 'idle'; readonly sockets: number; readonly settleMs: number }
    | {
        readonly kind: 'herd';
        readonly calls: number;
        readonly callsPerSecond: number;
        readonly stayMs: readonly [number, number];
        readonly gapMs: number;
      }
  );

export interface Spent {
  readonly wallMs: number;
  readonly servers: readonly { readonly name: string; readonly userMs: number; readonly systemMs: number }[];
  /** Share of one core. */
  readonly generatorUse: number;
  /** How late the generator's timers were, ms: the 99th percentile. */
  readonly generatorLateMs: number;
  /** What neither the servers nor the generator used, in cores. */
  readonly othersUse: number;
}

export interface Outcome {
  readonly spent: Spent;
  /** Joins, messages or requests that were completed in the measured part. */
  readonly done: number;
  /** Of one join or message, ms. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly sent: number;
  readonly received: number;
  readonly excused: number;
  readonly failures: readonly string[];
  /** `idle` only: anonymous memory per watched process: before, with the sockets, and with as many again. */
  readonly memoryKb?: readonly (readonly number[])[];
}
