/** Runs the chart's suites, charts/parley/tests. */
import { spawnSync } from 'node:child_process';
import { CHART, tool } from './tools.ts';

const run = spawnSync(tool('helm-unittest', 'HELM_UNITTEST_VERSION'), [CHART], { encoding: 'utf8' });
if (run.status !== 0) process.stderr.write(run.stdout + run.stderr);
process.exitCode = run.status ?? 1;
