/** The rows and goals of `make bench-streams`. `parley-load bench` defines the load of each row. */

import type { Contestant } from '../comparison.ts';
import type { Build } from '../programs.ts';

export type ServerName = 'floor' | 'parley' | 'tungstenite' | 'naive' | 'crossbar';

/** In the order they take turns; the first is what the others are compared with. */
export const SERVERS: readonly Contestant<ServerName>[] = [
  { name: 'floor', label: 'epoll floor' },
  { name: 'parley', label: 'Parley' },
  { name: 'tungstenite', label: 'tokio-tungstenite' },
  { name: 'naive', label: 'naive ws' },
];

/** Takes part where its program is given. */
export const CROSSBAR: Contestant<ServerName> = { name: 'crossbar', label: 'Crossbar' };

export interface Row {
  /** The value of `parley-load bench --row`. */
  readonly name: string;
  readonly title: string;
  readonly unit: 'CPU-s per GB' | 'CPU µs per delivery';
  /** Times the floor that Parley may cost. */
  readonly goal: number;
}

const video = (name: string, who: string): Row => ({
  name,
  title: `Video, ${who}: 1.1 Mbit/s from each publisher, in 30 messages/s of 4583 B`,
  unit: 'CPU-s per GB',
  goal: 1.1,
});

export const ROWS: readonly Row[] = [
  video('video-1-to-100', '1 to 100'),
  video('video-1-to-300', '1 to 300'),
  video('video-1-to-500', '1 to 500'),
  video('video-20-to-300', '20 to 300, 15 readers each'),
  {
    name: '100B-1-to-1',
    title: 'Small, 1 to 1: 100 B, each sent when the last has come',
    unit: 'CPU µs per delivery',
    goal: 1.5,
  },
  {
    name: '100B-1-to-100',
    title: 'Small, 1 to 100: 100 B, 500 a second, so 50,000 deliveries',
    unit: 'CPU µs per delivery',
    goal: 1.5,
  },
  {
    name: '1MB-1-to-1',
    title: 'Large, 1 to 1: 1 MB, 100 a second',
    unit: 'CPU-s per GB',
    goal: 1.1,
  },
];

/** What is built for it. */
export const PACKAGES: readonly string[] = ['parley-relay', 'stream-references', 'parley-load'];

/** Rows of another kind: `memory.ts`. */
export const MEMORY: readonly string[] = ['idle', 'churn'];

export interface Profile {
  readonly rounds: number;
  readonly warmSeconds: number;
  readonly seconds: number;
  readonly rows: readonly string[];
  /** How the Rust programs are built. */
  readonly build: Build;
}

/** Figures. Many short rounds: what disturbs one server then disturbs its neighbours in the round as well. */
export const FULL: Profile = {
  rounds: 5,
  warmSeconds: 0.5,
  seconds: 3,
  rows: [...ROWS.map(({ name }) => name), ...MEMORY],
  build: 'release',
};

/** Exactness alone, within CI's time and with its build. */
export const SMOKE: Profile = {
  rounds: 1,
  warmSeconds: 0.1,
  seconds: 0.4,
  rows: ['video-1-to-100', 'video-20-to-300', '100B-1-to-1', '1MB-1-to-1'],
  build: 'dev',
};
