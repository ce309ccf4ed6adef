/** A display for browsers on a machine without one, of which Firefox shares the screen: Xvfb. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface Display {
  /** What a browser finds it by. */
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/** Its size, in pixels: of no camera's shape. */
export const DISPLAY_SIZE = { width: 1100, height: 720 };
const WITHIN_MS = 10_000;

/** The server chooses a number that is free and writes it to file descriptor 3. */
export async function startDisplay(): Promise<Display> {
  const { width, height } = DISPLAY_SIZE;
  const server = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
  );
  const kill = (): void => void server.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(server, 'exit');
  const numbers = createInterface(server.stdio[3] as Readable);
  try {
    const [number] = (await Promise.race([
      once(numbers, 'line', { signal: AbortSignal.timeout(WITHIN_MS) }),
      ended.then(() => Promise.reject(new Error('it ended'))),
    ])) as [string];
    return {
      // Firefox prefers Wayland.
      env: { DISPLAY: `:${number}`, WAYLAND_DISPLAY: undefined, MOZ_ENABLE_WAYLAND: '0' },
      async close() {
        server.kill();
        await ended;
        process.off('exit', kill);
      },
    };
  } catch (cause) {
    kill();
    throw new Error('Xvfb did not start (make test-tools installs it)', { cause });
  }
}
