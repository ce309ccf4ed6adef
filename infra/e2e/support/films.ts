/** Participants at terminals, which publish a video and cost a machine less than browsers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeVideo, Terminal } from '@parley/local/terminal';

export interface Films {
  begin(count: number, command?: 'publish' | 'join', ...flags: readonly string[]): readonly Terminal[];
  /** With SIGTERM. */
  end(): void;
}

/** For the room of this link; those that have not ended do so with the test. */
export async function filmsFrom(
  t: TestContext,
  link: string,
  sound: 'tone' | 'silent' = 'tone',
): Promise<Films> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-video-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const video = makeVideo(join(dir, 'video.mp4'), sound);
  const films: Terminal[] = [];
  t.after(() => films.forEach(({ child }) => child.kill('SIGKILL')));
  return {
    begin: (count, command = 'publish', ...flags) => {
      for (let nth = 1; nth <= count; nth += 1)
        films.push(Terminal.start([command, link, ...flags, video, '--loop', '--name', `Film ${nth}`]));
      return films;
    },
    end: () => films.splice(0).forEach(({ child }) => child.kill('SIGTERM')),
  };
}
