/** Publishers and viewers of a room: the `parley` command, run in a region, where it reaches its relay. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { findBuilt } from '@parley/local/tools';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import type { Regions } from '../../src/regions.ts';
import type { RegionName } from '../../src/site.ts';

/** As the command writes it for each frame of video and sound. */
interface Frame {
  /** Of its arrival, since 1970. */
  readonly timeMs: number;
}

/** The time of this machine, on the clock of `Frame`. */
export const now = (): number => performance.timeOrigin + performance.now();

/** A process that ends with the test. */
class Command {
  readonly child: ChildProcess;
  readonly #errors: string[] = [];

  constructor(regions: Regions, region: RegionName, args: readonly string[]) {
    const [command, ...inside] = regions.inside(region);
    this.child = spawn(command, [...inside, findBuilt('parley', 'cli'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    assert.ok(this.child.stderr);
    createInterface(this.child.stderr).on('line', (line) => this.#errors.push(line));
  }

  get errors(): string {
    return this.#errors.join('\n');
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGINT');
    await ended;
  }
}

const roomUrl = (regions: Regions, region: RegionName, room: string): string =>
  `${regions.pod(region, 1)}/r/${room}`;

/** Publishes a video in a loop. */
export class Publisher extends Command {
  constructor(regions: Regions, region: RegionName, room: string, video: string) {
    super(regions, region, ['publish', roomUrl(regions, region, room), video, '--loop']);
    this.child.stdout?.resume();
  }
}

/** Receives all frames that others publish in the room. */
export class Viewer extends Command {
  readonly name: string;
  readonly #arrivals: number[] = [];

  constructor(regions: Regions, region: RegionName, room: string) {
    super(regions, region, ['watch', roomUrl(regions, region, room), '--log']);
    this.name = `a viewer in ${region}`;
    assert.ok(this.child.stdout);
    createInterface(this.child.stdout).on('line', (line) =>
      this.#arrivals.push((JSON.parse(line) as Frame).timeMs),
    );
  }

  /** Resolves with the time of the first frame that arrived after that time. */
  async sees(since: number, withinMs: number): Promise<number> {
    const isLater = (at: number): boolean => at > since;
    try {
      return await eventually(`${this.name} receives a frame`, () => this.#arrivals.find(isLater), withinMs);
    } catch (cause) {
      throw new Error(`${this.name}: ${this.errors}`, { cause });
    }
  }

  /** How many frames arrived since then. */
  count(since: number): number {
    return this.#arrivals.filter((at) => at > since).length;
  }

  /** The longest time between then and now in which no frame arrived, in milliseconds. */
  longestGapMs(since: number): number {
    const times = this.#arrivals.filter((at) => at > since);
    const gaps = [...times, now()].map((at, index) => at - (times[index - 1] ?? since));
    return Math.round(Math.max(...gaps));
  }
}
