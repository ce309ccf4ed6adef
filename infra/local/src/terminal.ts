import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { findTools } from './tools.ts';

/** Lines that come within this, or never: two cores may have much to do. */
const withinMs = 30_000;

/** The `parley` command as a user runs it in a terminal; `make cli` builds it. */
export class Terminal {
  readonly child: ChildProcess;
  readonly #lines: Record<'stdout' | 'stderr', string[]> = { stdout: [], stderr: [] };
  readonly #ended: Promise<number | null>;
  #wake = Promise.withResolvers<void>();

  /** `into`: the beginning of a command that runs it elsewhere. */
  static start(args: readonly string[], into: readonly string[] = []): Terminal {
    const [command = '', ...rest] = [...into, join(dirname(findTools().relay), 'parley'), ...args];
    return new Terminal(spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  private constructor(child: ChildProcess) {
    this.child = child;
    this.#ended = once(child, 'close').then(([code]) => code as number | null);
    for (const name of ['stdout', 'stderr'] as const) {
      const stream = child[name];
      assert.ok(stream);
      createInterface(stream).on('line', (line) => {
        this.#lines[name].push(line);
        this.#wake.resolve();
        this.#wake = Promise.withResolvers();
      });
    }
  }

  /** The next line that is so; those before it are not seen again. */
  async line(from: 'stdout' | 'stderr', isSo: (line: string) => boolean = () => true): Promise<string> {
    const until = Date.now() + withinMs;
    for (;;) {
      const line = this.#lines[from].shift();
      if (line !== undefined) {
        if (isSo(line)) return line;
        continue;
      }
      const left = until - Date.now();
      assert.ok(left > 0, `never written; on stderr: ${this.#lines.stderr.join('\n')}`);
      await Promise.race([this.#wake.promise, delay(Math.min(left, 1000))]);
    }
  }

  /** Waits for its end; the exit code. */
  async ends(): Promise<number | null> {
    return this.#ended;
  }

  /** As Ctrl-C does. */
  async interrupt(): Promise<number | null> {
    this.child.kill('SIGINT');
    return this.#ended;
  }
}

/** A video of two seconds, H.264 and AAC, a key frame a second, as small as the cameras of tests. */
export function makeVideo(path: string, sound: 'tone' | 'silent' = 'tone'): string {
  const picture = '-f lavfi -i testsrc=size=160x90:rate=10:duration=2';
  const source = sound === 'tone' ? 'sine=frequency=440' : 'anullsrc=channel_layout=mono:sample_rate=44100';
  const heard = `-f lavfi -t 2 -i ${source}`;
  const coded = '-c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p -c:a aac -b:a 64k';
  execFileSync('ffmpeg', `-v error -y ${picture} ${heard} ${coded}`.split(' ').concat(path));
  return path;
}
