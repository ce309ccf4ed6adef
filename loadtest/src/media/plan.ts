/** The rows and goals of `make bench-media`. `parley-load media` generates the load. */

import { fileURLToPath } from 'node:url';
import type { Contestant } from '../comparison.ts';
import type { Build } from '../programs.ts';

export type ServerName = 'stock' | 'parley' | 'livekit';

/** In the order they take turns; the first is what the others are compared with. */
export const SERVERS: readonly Contestant<ServerName>[] = [
  { name: 'stock', label: 'stock moq-relay' },
  { name: 'parley', label: 'Parley' },
  { name: 'livekit', label: 'LiveKit' },
];

export type Unit = 'CPU-s per GB' | 'CPU µs per packet' | 'ms, p50';

export interface Row {
  readonly name: string;
  readonly title: string;
  readonly unit: Unit;
  /** Times the stock relay's figure that Parley's may be. */
  readonly goal: number;
  /** What it may be at most, whatever the other's is. */
  readonly most?: number;
  /** One relay, or a leaf for publishers, an origin, and a leaf for watchers. */
  readonly relays: 1 | 3;
  /**
   * Whether LiveKit is measured too: `livekit-load` knows no loss, no slow watchers and no second server, and needs more than its core for what 300
   * watchers or a room of 20 receive.
   */
  readonly hasLiveKit: boolean;
  /** Flags of `parley-load media`, and of `livekit-load`. */
  readonly load: readonly string[];
  /** Limits of Parley's relay that are not the default: `media.hold=0`. */
  readonly limits?: readonly string[];
  /** How much of what goes to and from the watchers is lost; without delay. Root is needed. */
  readonly lossPercent?: number;
}

const video = (watchers: number, goal: number): Row => ({
  name: `video-1-to-${watchers}`,
  title: `Video, 1 to ${watchers}: H.264 of 1 Mbit/s at 30 frames a second, groups of 2 s`,
  unit: 'CPU-s per GB',
  goal,
  relays: 1,
  hasLiveKit: watchers <= 100,
  load: ['--publishers=1', `--watchers=${watchers}`],
});

const room = (people: number): Row => ({
  name: `room-${people}`,
  title: `Room of ${people}: each sends H.264 of 1 Mbit/s and watches all others`,
  unit: 'CPU-s per GB',
  goal: 0.6,
  relays: 1,
  hasLiveKit: people <= 10,
  load: [`--room=${people}`],
});

const audio = (listeners: number, most: number): Row => ({
  name: `audio-10-to-${listeners}`,
  title: `Audio, 10 to ${listeners}: 50 packets a second of 80 to 160 B from each speaker, groups of 1 s`,
  unit: 'CPU µs per packet',
  goal: 1,
  most,
  relays: 1,
  hasLiveKit: false,
  load: ['--audio', '--publishers=10', `--watchers=${listeners}`],
});

/** What a network and its users do: packets are lost, and of four watchers one takes its frames late. */
const lossy = (row: Row, lossPercent: number): Row => ({
  ...row,
  name: `${row.name}-lossy`,
  title: `${row.title}, ${lossPercent} % of the watchers' packets lost`,
  goal: 1,
  hasLiveKit: false,
  lossPercent,
});

const slow = (row: Row, slowPercent: number): Row => ({
  ...row,
  name: `${row.name}-slow`,
  title: `${row.title}, ${slowPercent} % of the watchers read ten frames a second`,
  goal: 1,
  hasLiveKit: false,
  load: [...row.load, `--slow=${slowPercent}`],
});

/** Each packet leaves as it comes, also where the relay is busy. */
const unheld = (row: Row): Row => ({
  ...row,
  name: `${row.name}-unheld`,
  title: `${row.title}, none held`,
  hasLiveKit: true,
  limits: ['media.hold=0'],
});

const hops = (relays: 1 | 3): Row => ({
  name: `relays-${relays}`,
  title: `Delay, ${relays === 1 ? 'through one relay' : 'through three relays, leaf, origin, leaf'}: 1 Mbit/s, 1 to 10`,
  unit: 'ms, p50',
  goal: 1,
  relays,
  hasLiveKit: relays === 1,
  load: ['--publishers=1', '--watchers=10'],
});

export const ROWS: readonly Row[] = [
  video(30, 1),
  video(100, 0.55),
  video(300, 0.45),
  lossy(video(100, 1), 2),
  slow(video(100, 1), 25),
  room(10),
  room(20),
  unheld(audio(20, 18)),
  audio(20, 11),
  audio(50, 11),
  hops(1),
  hops(3),
];

/** Between these two rows, the memory of a relay grows by that of so many watchers. */
export const MEMORY = { few: 'video-1-to-100', many: 'video-1-to-300', watchers: 200, goalKb: 120 };

/** The servers of a row, of those that are built. */
export const contestantsOf = (
  { hasLiveKit }: Row,
  built: readonly ServerName[],
): readonly Contestant<ServerName>[] =>
  SERVERS.filter(({ name }) => built.includes(name) && (name !== 'livekit' || hasLiveKit));

/** What is built for it. */
export const PACKAGES: readonly string[] = ['parley-relay', 'parley-load'];
/** Another quarter of an hour of processor time, which CI's smoke run does without. */
export const STOCK = fileURLToPath(new URL('../../references/media/', import.meta.url));
export const STOCK_PROGRAM = 'stock-moq-relay';
/** A module of Go. */
export const LIVEKIT_LOAD = fileURLToPath(new URL('../../references/livekit/', import.meta.url));
export const LIVEKIT_LOAD_PROGRAM = 'livekit-load';

export interface Profile {
  readonly rounds: number;
  /** How many rounds of a row may be run again because the machine was not quiet. */
  readonly repeats: number;
  readonly warmSeconds: number;
  readonly seconds: number;
  readonly rows: readonly string[];
  /** How the Rust programs are built. */
  readonly build: Build;
}

/** Figures. A window of whole groups, so that each holds as many key frames as any other. */
export const FULL: Profile = {
  rounds: 5,
  repeats: 3,
  warmSeconds: 2,
  seconds: 6,
  rows: ROWS.map(({ name }) => name),
  build: 'release',
};

/** Exactness alone, within CI's time and with its build. */
export const SMOKE: Profile = {
  rounds: 1,
  repeats: 0,
  warmSeconds: 0.2,
  seconds: 1.5,
  rows: ['video-1-to-30', 'room-10', 'audio-10-to-20', 'relays-3'],
  build: 'dev',
};
