/** Starts the well-behaved call and ends it with its report. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CallPlan, CallReport, FromCall, ToCall } from './plan.ts';

export interface WellBehavedCall {
  stop(): Promise<CallReport>;
}

const ANSWER_WITHIN_MS = 30_000;

export async function startCall(plan: CallPlan): Promise<WellBehavedCall> {
  const child = fork(fileURLToPath(new URL('main.ts', import.meta.url)), { stdio: 'inherit' });
  const endNow = (): void => void child.kill('SIGKILL');
  process.once('exit', endNow);
  const request = async (message: ToCall): Promise<FromCall> => {
    const answer = once(child, 'message', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the process of the call ended with ${String(code)}`);
    });
    child.send(message);
    const [first] = (await Promise.race([answer, ended])) as [FromCall];
    ended.catch(() => {});
    return first;
  };
  await request({ type: 'start', plan });
  return {
    async stop() {
      const answer = await request({ type: 'stop' });
      process.off('exit', endNow);
      if (answer.type !== 'report') throw new Error('the call answered out of turn');
      return answer.report;
    },
  };
}
