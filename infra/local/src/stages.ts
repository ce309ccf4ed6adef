import { ensureRunning, stopProcess, type ProcessRecord, type ProcessSpec } from './supervise.ts';

/**
 * Starts what does not run: the processes of a stage at once, a stage when those before it work. On a failure, the processes that this call started
 * are stopped again.
 */
export async function startStages(
  dir: string,
  stages: readonly (readonly ProcessSpec[])[],
): Promise<ProcessRecord[]> {
  const started: ProcessRecord[] = [];
  const running: ProcessRecord[] = [];
  try {
    for (const stage of stages) running.push(...(await startStage(dir, stage, started)));
  } catch (error) {
    await Promise.all(started.map((record) => stopProcess(dir, record)));
    throw error;
  }
  return running;
}

async function startStage(
  dir: string,
  specs: readonly ProcessSpec[],
  started: ProcessRecord[],
): Promise<ProcessRecord[]> {
  const settled = await Promise.allSettled(
    specs.map(async (spec) => {
      const result = await ensureRunning(dir, spec);
      if (result.started) started.push(result.record);
      return result.record;
    }),
  );
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
