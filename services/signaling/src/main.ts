import { readConfig } from './server/config.ts';
import { createLog, natsBacking, startPod } from './server/start.ts';

const config = readConfig(process.env);
const log = createLog(config);
const running = await startPod(config, await natsBacking(config), log);

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'draining');
    running
      .drain()
      .then(() => running.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ error: String(error) }, 'shutdown failed');
          process.exit(1);
        },
      );
  });
}
