/** The generator's own process: takes jobs from the bench, one at a time, and answers with their outcomes. */
import type { Job } from '../job.ts';
import { runJob } from './run.ts';

process.on('message', (job: Job) => {
  runJob(job).then(
    (outcome) => process.send?.({ outcome }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
