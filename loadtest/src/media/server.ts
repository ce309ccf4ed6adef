/** A measured server, and what its start is given. */
import type { ChildProcess } from 'node:child_process';
import type { LossyLink } from './lossy-link.ts';

export interface Server {
  readonly pids: readonly number[];
  /** What connects to it, with a token that is fresh. */
  readonly generator: () => Generator;
  close(): Promise<void>;
}

export interface Generator {
  readonly program: string;
  readonly args: readonly string[];
}

export interface StartOptions {
  /** Where the Rust programs lie. */
  readonly programs: string;
  /** Where logs and certificates go. */
  readonly dir: string;
  /** The way to the watchers, if packets get lost on it. */
  readonly link: LossyLink | undefined;
}

export interface Context extends StartOptions {
  /** Where relays listen for media. */
  readonly host: string;
  /** All processes of this server. */
  readonly begun: ChildProcess[];
  /** Starts a program, waits until it is ready and answers its process id. */
  readonly begin: (label: string, program: string, how: How) => Promise<number>;
}

export interface How {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly ready: () => Promise<boolean>;
}
