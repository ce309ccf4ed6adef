/** The SFU of LiveKit, with its defaults but for addresses, and the generator that speaks its protocol: `references/livekit`. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@parley/local/free-port';
import { cacheDir, findLiveKit } from '@parley/local/tools';
import { HOST, answers } from '../process.ts';
import { LIVEKIT_LOAD_PROGRAM } from './plan.ts';
import type { Context, Generator } from './server.ts';

/** What `parley-load media` encoded and sends by default. */
const VIDEO = 'load-video-720p30-1000k-gop2s.mp4';
const KEY = 'bench';

/** Whether `infra/local/tools.sh livekit` has built it. */
export function hasLiveKit(): boolean {
  try {
    findLiveKit();
    return true;
  } catch {
    return false;
  }
}

export async function startLiveKit({
  begin,
  dir,
}: Context): Promise<{ pid: number; generator: () => Generator }> {
  const [port, media] = [await freePort(), await freePort()];
  const secret = randomBytes(32).toString('hex');
  const config = join(dir, `livekit-${port}.yaml`);
  // JSON is YAML too.
  const settings = {
    port,
    bind_addresses: [HOST],
    keys: { [KEY]: secret },
    rtc: {
      udp_port: media,
      tcp_port: 0,
      node_ip: HOST,
      use_external_ip: false,
      enable_loopback_candidate: true,
    },
    logging: { level: 'error' },
  };
  writeFileSync(config, JSON.stringify(settings));
  const pid = await begin('livekit', findLiveKit(), {
    args: ['--config', config],
    ready: () => answers(`http://${HOST}:${port}/`),
  });
  return {
    pid,
    generator: () => ({
      program: LIVEKIT_LOAD_PROGRAM,
      args: [
        `--url=ws://${HOST}:${port}`,
        `--key=${KEY}`,
        `--secret=${secret}`,
        `--video=${join(cacheDir(process.env), VIDEO)}`,
      ],
    }),
  };
}
