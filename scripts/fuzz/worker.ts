/** Runs one target in a thread of its own, which the runner can end when the target hangs. */
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { campaign, type Outcome } from './campaign.ts';
import { readCorpus } from './corpus.ts';
import { SHARED_HEAD, type Job, type TargetFile } from './job.ts';

const { file, target: name, budget, shared } = workerData as Job;
const numbers = new Int32Array(shared, 0, 2);
const tried = new Uint8Array(shared, SHARED_HEAD);

const { targets } = (await import(pathToFileURL(file).href)) as TargetFile;
const target = targets.find((one) => one.name === name);
if (target === undefined) throw new Error(`${file} has no target ${name}`);
const outcome: Outcome = await campaign(target, readCorpus(file, name), budget, (input, executions) => {
  tried.set(input.subarray(0, tried.length));
  numbers[1] = Math.min(input.length, tried.length);
  Atomics.store(numbers, 0, executions);
});
await target.close?.();
parentPort?.postMessage(outcome, []);
