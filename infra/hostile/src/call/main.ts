/** The well-behaved call, in a process of its own so that the work of attackers does not delay its measurements. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { NETS, address } from '../sources.ts';
import { Newcomers } from './newcomers.ts';
import type { CallPlan, CallReport, FromCall, ToCall } from './plan.ts';
import { Ring } from './ring.ts';

const NS_PER_MS = 1e6;

const report = (message: FromCall): void => void process.send?.(message);

async function begin(plan: CallPlan): Promise<() => CallReport> {
  const late = monitorEventLoopDelay({ resolution: 10 });
  const from = [0, 1, 2, 3].map((number) => address(NETS.call, number));
  const ring = await Ring.open(plan.edge, plan.room, from);
  const newcomers = new Newcomers(plan.edge, plan.newcomerEveryMs);
  late.enable();
  const began = performance.now();
  return () => {
    const seconds = (performance.now() - began) / 1000;
    late.disable();
    newcomers.stop();
    ring.stop();
    return {
      seconds,
      framesSent: ring.sent,
      framesReceived: ring.gaps.count,
      gapMax: ring.gaps.max,
      gapP99Ms: ring.gaps.quantile(0.99),
      chatLines: ring.chat.count,
      chatMax: ring.chat.max,
      chatP50Ms: ring.chat.quantile(0.5),
      disturbances: ring.disturbances,
      newcomers: newcomers.took.count,
      newcomerMax: newcomers.took.max,
      newcomerP50Ms: newcomers.took.quantile(0.5),
      newcomerFailures: newcomers.failures,
      ownDelayMaxMs: late.max / NS_PER_MS,
    };
  };
}

let running: (() => CallReport) | undefined;
process.on('message', (message: ToCall) => {
  if (message.type === 'start')
    begin(message.plan).then(
      (stop) => {
        running = stop;
        report({ type: 'ready' });
      },
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  else if (running !== undefined) {
    report({ type: 'report', report: running() });
    // What is still on its way to newcomers does not matter any more.
    process.disconnect();
  }
});
process.on('disconnect', () => process.exit());
