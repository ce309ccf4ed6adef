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

/** Its size, in pixels. */
export const DISPLAY_SIZE = { width: 960, height: 720 };

/** The server chooses a number that is free and writes it to file descriptor 3. */
export async function startDisplay(): Promise<Display> {
  const { width, height } = DISPLAY_SIZE;
  const server = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
  );
  const ended = once(server, 'exit');
  const failed = ended.then(
    () => Promise.reject(new Error('Xvfb ended')),
    (cause: unknown) => Promise.reject(new Error('no Xvfb: make test-tools installs it', { cause })),
  );
  const numbers = createInterface(server.stdio[3] as Readable);
  const [number] = (await Promise.race([once(numbers, 'line'), failed])) as [string];
  failed.catch(() => undefined);
  return {
    env: { DISPLAY: `:${number}` },
    async close() {
      server.kill();
      await ended;
    },
  };
}
