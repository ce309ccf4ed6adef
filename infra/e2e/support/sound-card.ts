/** A sound card for browsers on a machine without one, which Firefox needs to play and record: a PulseAudio server with speakers that discard sound. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

export interface SoundCard {
  /** What a browser finds it by. */
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

const WITHIN_MS = 10_000;
/** Two, so that there is a choice. */
const SPEAKERS = ['desk', 'headset'];

export async function startSoundCard(): Promise<SoundCard> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-sound-'));
  const socket = join(dir, 'native');
  const server = spawn(
    'pulseaudio',
    [
      '-n',
      '--daemonize=no',
      '--exit-idle-time=-1',
      '--use-pid-file=no',
      '--log-target=null',
      ...SPEAKERS.map(
        (name) => `--load=module-null-sink sink_name=${name} sink_properties=device.description=${name}`,
      ),
      `--load=module-native-protocol-unix socket=${socket} auth-anonymous=1`,
    ],
    { stdio: 'ignore', env: { ...process.env, HOME: dir, XDG_RUNTIME_DIR: dir } },
  );
  const ended = once(server, 'exit');
  await until(() => Promise.resolve(existsSync(socket)), {
    withinMs: WITHIN_MS,
    what: () => 'PulseAudio to listen (make test-tools installs it)',
  });
  return {
    env: { PULSE_SERVER: `unix:${socket}` },
    async close() {
      server.kill();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
