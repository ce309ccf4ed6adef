import { readConfig } from './server/config.ts';
import { followKeyFile } from './server/key-file.ts';
import { createLog, replaceableMarks } from './server/log.ts';
import { natsBacking, startPod } from './server/start.ts';

/** After the drain, shutdown takes at most a second, and two more where a collector does not answer; the process does not wait longer than this. */
const CLOSE_TIMEOUT_MS = 5000;
const FLUSH_TIMEOUT_MS = 1000;

const config = readConfig(process.env);
const marks = replaceableMarks(config.keySet);
const log = createLog(config, undefined, marks);
const running = await startPod(config, await natsBacking(config, log), log);
followKeyFile({
  file: config.keysFile,
  keySet: config.keySet,
  log,
  useKeys(keySet) {
    running.useKeys(keySet);
    marks.useKeys(keySet);
  },
});

const force = new AbortController();
let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) {
      // A second signal: the operator does not want to wait for the rest of the drain.
      force.abort();
      return;
    }
    stopping = true;
    log.info({ signal }, 'draining');
    stop().then(
      () => exit(0),
      (error: unknown) => {
        log.error({ error: String(error) }, 'shutdown failed');
        exit(1);
      },
    );
  });
}

/** Where the reader of the log is gone, flushing does not finish. */
function exit(code: number): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), FLUSH_TIMEOUT_MS);
  log.flush(() => process.exit(code));
}

async function stop(): Promise<void> {
  await running.drain(force.signal);
  setTimeout(() => {
    log.error('shutdown timed out');
    exit(1);
  }, CLOSE_TIMEOUT_MS).unref();
  await running.close();
}
